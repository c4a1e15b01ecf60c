#include "analysis/repair/reasons.h"

namespace prof {

std::string reason_not_placed(const ContendedRecord& record, const ContendedRecord::Placeable& one) {
  if (record.sharing == hpcrun::Sharing::True) return "threads use the same bytes, which no layout separates";
  if (one.is_mapping) return "the program maps this memory itself, without an allocator";
  if (one.site.frames.empty())
    return "they are allocated by generated code, whose address differs in each run";
  if (one.is_bound)
    return "the allocation has an explicit alignment that must be kept, and alignment alone does not "
           "separate the threads' data";
  if (one.placement == hpcrun::kAsAllocated)
    return "threads share lines within one allocation, wherever it starts";
  return {};
}

std::string reason_not_moved(const ContendedRecord& record) {
  if (record.kind == DataKind::Unknown && record.module.empty())
    return "it is not known who allocated the memory";
  const bool has_patch = !record.changes.empty();
  return std::string("the program's build determines where variables lie; ") +
         (has_patch ? "prof report --view=contention --format=patch changes the source"
                    : "change the source");
}

}  // namespace prof
