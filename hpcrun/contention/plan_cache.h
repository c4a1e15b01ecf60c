#pragma once
// Caches the access plans of the code where a thread is sampled, which is often the same. Belongs to one
// thread. Async-signal-safe. Zeroed memory is a valid empty object.

#include <cstdint>

#include "hpcrun/model/access_plan.h"

namespace hpcrun {

class PlanCache {
 public:
  // Returns the plan as plan_accesses() does, valid until the next call. If code was changed (by a
  // just-in-time compiler), the plan may be that of the old code.
  // All calls must be for the same purpose.
  const AccessPlan& plan(uint64_t begin, uint64_t pc, const MemoryReader& code,
                         PlanFor purpose = PlanFor::SharedData) noexcept {
    Slot& slot = slots_[(pc ^ pc >> 6) % kSlots];
    if (slot.pc != pc || slot.begin != begin) {
      plan_accesses(begin, pc, code, workspace_, slot.plan, purpose);
      slot.pc = pc;
      slot.begin = begin;
    }
    return slot.plan;
  }

 private:
  static constexpr uint32_t kSlots = 64;

  struct Slot {
    uint64_t pc;
    uint64_t begin;
    AccessPlan plan;
  };

  Slot slots_[kSlots];
  PlanWorkspace workspace_;
};

}  // namespace hpcrun
