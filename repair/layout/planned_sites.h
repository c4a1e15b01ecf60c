#pragma once
// The repair plan of a run in the process that follows it: which of the modules that are loaded it means, and
// which of its entries a calling context of the allocator is named by. Planned modules are told from others
// by build ID, or by path where they have none.
//
// One for a process. Modules are announced and contexts looked up from any thread, without locks;
// async-signal-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/frame.h"

namespace hpcrun {

// Entries of the plan, a bit for each.
struct PlanEntries {
  uint64_t words[kMostPlanEntries / 64];

  void add(uint32_t entry) noexcept { words[entry / 64] |= uint64_t{1} << entry % 64; }
  bool holds(uint32_t entry) const noexcept { return words[entry / 64] >> entry % 64 & 1; }
  bool is_empty() const noexcept {
    for (const uint64_t word : words)
      if (word) return false;
    return true;
  }
};

// A module as the runtime came to know it.
struct AnnouncedModule {
  uint16_t id;
  const char* path;
  const uint8_t* build_id;
  uint32_t build_id_bytes;
  uint64_t load_bias;
};

class PlannedSites {
 public:
  // `data` stays where it is. False: it is no plan.
  bool start(const void* data, size_t bytes) noexcept { return check_repair_plan(data, bytes, plan_); }

  // In a forked child: modules are announced anew.
  void forget_modules() noexcept;

  const PlanView& plan() const noexcept { return plan_; }

  // Is the module one of the plan's?
  bool announce(const AnnouncedModule& module) noexcept;

  template <typename Visit>
  void for_each_entry(Visit visit) const noexcept {
    for (uint32_t i = 0; i < plan_.entry_count; ++i) visit(plan_.entries[i]);
  }

  // Where the entry's frame lies in memory; 0: its module is not loaded yet.
  uint64_t address_of(const PlanEntry& entry, uint32_t frame) const noexcept;

  // Those for allocations of this context, whatever their size. `frames`: innermost first.
  void match(const FrameKey* frames, uint32_t depth, PlanEntries& out) const noexcept;

 private:
  uint16_t id_of(uint32_t module) const noexcept { return ids_[module].load(std::memory_order_relaxed); }

  PlanView plan_;
  std::atomic<uint16_t> ids_[kMostPlanModules] = {};  // kModuleNone: not loaded yet
  std::atomic<uint64_t> load_biases_[kMostPlanModules] = {};
};

}  // namespace hpcrun
