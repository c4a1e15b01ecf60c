#pragma once
// The repair plan of a run, in the process that applies it. Determines which loaded modules the plan refers
// to, and which of its entries match a calling context of the allocator. Modules are identified by build ID,
// or by path if they have none.
//
// One per process. Modules are announced and contexts looked up from any thread, without locks.
// Async-signal-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/repair_plan.h"
#include "hpcrun/unwind/frame.h"

namespace hpcrun {

// A module as the runtime found it.
struct AnnouncedModule {
  uint16_t id;
  const char* path;
  const uint8_t* build_id;
  uint32_t build_id_bytes;
  uint64_t load_bias;
};

class PlannedSites {
 public:
  // `data` must stay in place. Returns false if it is not a plan.
  bool start(const void* data, size_t bytes) noexcept { return check_repair_plan(data, bytes, plan_); }

  // Must be called in a forked child, where modules are announced again.
  void clear_modules() noexcept;

  const PlanView& plan() const noexcept { return plan_; }

  // Returns true if the plan refers to the module.
  bool announce(const AnnouncedModule& module) noexcept;

  template <typename Visit>
  void for_each_entry(Visit visit) const noexcept {
    for (uint32_t i = 0; i < plan_.entry_count; ++i) visit(plan_.entries[i]);
  }

  // Returns the address of the entry's frame in memory, or 0 if its module is not loaded yet.
  uint64_t address_of(const PlanEntry& entry, uint32_t frame) const noexcept;

  // Finds the entries for allocations with this calling context, of any size. `frames`: innermost first.
  void match(const FrameKey* frames, uint32_t depth, PlanEntries& out) const noexcept;

 private:
  uint16_t id_of(uint32_t module) const noexcept { return ids_[module].load(std::memory_order_relaxed); }

  PlanView plan_;
  std::atomic<uint16_t> ids_[kMaxPlanModules] = {};  // kModuleNone: not loaded yet
  std::atomic<uint64_t> load_biases_[kMaxPlanModules] = {};
};

}  // namespace hpcrun
