#pragma once
// The access plans of the places where a thread is sampled: the same few, most often. One thread's. Zeroed
// memory is a valid empty one. Async-signal-safe.

#include <cstdint>

#include "hpcrun/model/access_plan.h"

namespace hpcrun {

class PlanCache {
 public:
  // As of plan_accesses(). Valid until the next call. Code that is changed (by a just-in-time compiler) may
  // be planned as it was.
  const AccessPlan& plan(uint64_t begin, uint64_t pc, const MemoryReader& code) noexcept {
    Slot& slot = slots_[(pc ^ pc >> 6) % kSlots];
    if (slot.pc != pc || slot.begin != begin) {
      plan_accesses(begin, pc, code, workspace_, slot.plan);
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
