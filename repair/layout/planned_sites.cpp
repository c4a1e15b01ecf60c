#include "repair/layout/planned_sites.h"

#include <algorithm>
#include <cstring>

namespace hpcrun {

namespace {

bool is_the_same(const PlanModule& planned, const AnnouncedModule& module) noexcept {
  const uint32_t bytes =
      module.build_id ? std::min<uint32_t>(module.build_id_bytes, sizeof planned.build_id) : 0;
  if (planned.build_id_bytes || bytes)
    return planned.build_id_bytes == bytes && std::memcmp(planned.build_id, module.build_id, bytes) == 0;
  return std::strcmp(planned.path, module.path) == 0;
}

}  // namespace

void PlannedSites::clear_modules() noexcept {
  for (std::atomic<uint16_t>& id : ids_) id.store(kModuleNone, std::memory_order_relaxed);
}

bool PlannedSites::announce(const AnnouncedModule& module) noexcept {
  bool is_planned = false;
  for (uint32_t i = 0; i < plan_.module_count; ++i) {
    if (!is_the_same(plan_.modules[i], module)) continue;
    load_biases_[i].store(module.load_bias, std::memory_order_relaxed);
    ids_[i].store(module.id, std::memory_order_release);
    is_planned = true;
  }
  return is_planned;
}

uint64_t PlannedSites::address_of(const PlanEntry& entry, uint32_t number) const noexcept {
  const PlanFrame& frame = plan_.frames[entry.first_frame + number];
  if (ids_[frame.module].load(std::memory_order_acquire) == kModuleNone) return 0;
  return load_biases_[frame.module].load(std::memory_order_relaxed) + frame.offset;
}

void PlannedSites::match(const FrameKey* frames, uint32_t depth, PlanEntries& out) const noexcept {
  out = {};
  for (uint32_t i = 0; i < plan_.entry_count; ++i) {
    const PlanEntry& entry = plan_.entries[i];
    if (entry.kind == PlanKind::GlobalLocks || entry.frame_count > depth) continue;
    const PlanFrame* const planned = plan_.frames + entry.first_frame;
    uint32_t same = 0;
    while (same < entry.frame_count && id_of(planned[same].module) != kModuleNone &&
           make_frame(id_of(planned[same].module), planned[same].offset) == frames[same])
      ++same;
    if (same == entry.frame_count) out.add(i);
  }
}

}  // namespace hpcrun
