// libFuzzer entry: arbitrary bytes as the repair plan of a run, and the contexts that it names.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "repair/layout/planned_sites.h"

namespace {

using namespace hpcrun;

bool is_power_of_two(uint32_t number) {
  return number && (number & (number - 1)) == 0;
}

void check(const PlanView& plan) {
  if (plan.entry_count > kMaxPlanEntries || plan.module_count > kMaxPlanModules) std::abort();
  for (uint32_t i = 0; i < plan.entry_count; ++i) {
    const PlanEntry& entry = plan.entries[i];
    if (entry.frame_count == 0 || entry.least_bytes == 0 || entry.least_bytes > entry.most_bytes)
      std::abort();
    if (entry.kind == PlanKind::Place && (!is_power_of_two(entry.align) || entry.offset >= entry.align))
      std::abort();
    for (uint32_t frame = 0; frame < entry.frame_count; ++frame)
      if (plan.frames[entry.first_frame + frame].module >= plan.module_count) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint64_t> words(size / 8 + 1);  // aligned like a mapped file
  std::memcpy(words.data(), data, size);
  static PlannedSites sites;
  if (!sites.start(words.data(), size)) return 0;
  check(sites.plan());
  sites.clear_modules();
  std::vector<FrameKey> frames;
  for (uint32_t i = 0; i < sites.plan().module_count; ++i) {
    const PlanModule& module = sites.plan().modules[i];
    if (std::strlen(module.path) >= sizeof module.path) std::abort();
    if (!sites.announce({static_cast<uint16_t>(i + 1), module.path,
                         module.build_id_bytes ? module.build_id : nullptr, module.build_id_bytes, i * 4096}))
      std::abort();
  }
  for (uint32_t i = 0; i < sites.plan().entry_count; ++i)
    for (uint32_t frame = 0; frame < sites.plan().entries[i].frame_count; ++frame) {
      const PlanFrame& planned = sites.plan().frames[sites.plan().entries[i].first_frame + frame];
      frames.push_back(make_frame(static_cast<uint16_t>(planned.module + 1), planned.offset));
      sites.address_of(sites.plan().entries[i], frame);
    }
  PlanEntries found;
  sites.match(frames.data(), static_cast<uint32_t>(frames.size()), found);
  for (uint32_t i = sites.plan().entry_count; i < kMaxPlanEntries; ++i)
    if (found.holds(i)) std::abort();
  return 0;
}
