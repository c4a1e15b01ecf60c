#include "hpcrun/measurement/repair_plan.h"

#include <bit>
#include <cassert>
#include <cstring>

namespace hpcrun {

namespace {

constexpr uint32_t kMinAlign = 16;  // malloc's alignment, and the unit of offsets
constexpr uint32_t kMaxAlign = 128;

bool is_placement(const PlanEntry& entry) noexcept {
  const bool is_aligned =
      std::has_single_bit(entry.align) && entry.align >= kMinAlign && entry.align <= kMaxAlign;
  const bool is_offset = entry.offset % kMinAlign == 0 && entry.offset < entry.align;
  const bool is_padded = entry.pad == 1 || entry.pad == 64 || entry.pad == 128;
  const bool changes = entry.align > kMinAlign || entry.pad > 1;
  return is_aligned && is_offset && is_padded && changes;
}

bool is_entry(const PlanEntry& entry, const PlanHeader& header) noexcept {
  if (entry.frame_count == 0 || entry.frame_count > kMaxPlanFrames ||
      entry.frame_count > header.frame_count || entry.first_frame > header.frame_count - entry.frame_count)
    return false;
  if (entry.least_bytes == 0 || entry.least_bytes > entry.most_bytes || entry.most_bytes > kMaxPlannedBytes)
    return false;
  switch (entry.kind) {
    case PlanKind::Place:
      return is_placement(entry);
    case PlanKind::SiteLocks:
      return true;
    case PlanKind::GlobalLocks:
      return entry.frame_count == 1;
  }
  return false;
}

bool is_module(const PlanModule& module) noexcept {
  return module.build_id_bytes <= sizeof module.build_id && module.path[0] != '\0' &&
         std::memchr(module.path, '\0', sizeof module.path) != nullptr;
}

}  // namespace

bool check_repair_plan(const void* data, size_t bytes, PlanView& out) noexcept {
  assert(reinterpret_cast<uintptr_t>(data) % 8 == 0);
  PlanHeader header;
  if (bytes < sizeof header) return false;
  std::memcpy(&header, data, sizeof header);
  if (std::memcmp(header.magic, kRepairPlanMagic, sizeof header.magic) != 0 ||
      header.entry_count > kMaxPlanEntries || header.module_count > kMaxPlanModules ||
      header.frame_count > kMaxPlanEntries * kMaxPlanFrames)
    return false;
  const size_t entries = sizeof header;
  const size_t frames = entries + header.entry_count * sizeof(PlanEntry);
  const size_t modules = frames + header.frame_count * sizeof(PlanFrame);
  if (bytes != modules + header.module_count * sizeof(PlanModule)) return false;
  const char* const at = static_cast<const char*>(data);
  PlanView view;
  view.entries = reinterpret_cast<const PlanEntry*>(at + entries);
  view.frames = reinterpret_cast<const PlanFrame*>(at + frames);
  view.modules = reinterpret_cast<const PlanModule*>(at + modules);
  view.entry_count = header.entry_count;
  view.module_count = header.module_count;
  for (uint32_t i = 0; i < header.entry_count; ++i)
    if (!is_entry(view.entries[i], header)) return false;
  for (uint32_t i = 0; i < header.frame_count; ++i)
    if (view.frames[i].module >= header.module_count) return false;
  for (uint32_t i = 0; i < header.module_count; ++i)
    if (!is_module(view.modules[i])) return false;
  out = view;
  return true;
}

}  // namespace hpcrun
