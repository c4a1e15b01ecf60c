#include "analysis/repair/reasons.h"

namespace prof {

std::string why_not_placed(const ContendedRecord& record, const ContendedRecord::Placeable& one) {
  if (record.sharing == hpcrun::Sharing::True) return "threads use the same bytes, which no layout parts";
  if (one.is_mapping) return "the program maps this memory itself, without an allocator";
  if (one.site.frames.empty())
    return "they are allocated by generated code, which the next run has elsewhere";
  if (one.is_bound)
    return "the program asks for an alignment, which stays, and that alone does not part what threads use";
  if (one.placement == hpcrun::kAsAllocated)
    return "threads meet on lines within an allocation, wherever it begins";
  return {};
}

std::string why_not_moved(const ContendedRecord& record) {
  if (record.kind == DataKind::Unknown && record.module.empty())
    return "it is not known who allocated the memory";
  const bool has_patch = !record.changes.empty();
  return std::string("variables lie where the program was built to have them; ") +
         (has_patch ? "prof report --view=contention --format=patch changes the source"
                    : "change the source");
}

}  // namespace prof
