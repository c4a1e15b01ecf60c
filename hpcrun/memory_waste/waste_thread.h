#pragma once
// The search for wasted stores and loads in one thread: takes samples, sets breakpoints, and decides by their
// hits. Belongs to one thread, in its arena. Zeroed memory is a valid object. Async-signal-safe.

#include <ucontext.h>

#include "hpcrun/contention/plan_cache.h"
#include "hpcrun/hooks.h"
#include "hpcrun/memory_waste/private_memory.h"
#include "hpcrun/memory_waste/reservoir.h"
#include "hpcrun/memory_waste/waste_records.h"
#include "hpcrun/sample/state.h"

namespace hpcrun {

struct HitAccess;
struct HitAt;

class WasteThread {
 public:
  // Returns false if there is no memory.
  [[nodiscard]] bool attach(ThreadState& thread) noexcept {
    return cells_.attach(process_state.file, thread.arena, thread.index);
  }

  // `kinds`: bit n for WasteKind n. `signal_data`: what the breakpoints' signals carry, with 16 free bits.
  // Returns 0, or a negated errno if breakpoints are refused.
  int sample(ThreadState& thread, const RecordedSample& sample, uint64_t kinds,
             uint64_t signal_data) noexcept;

  // A breakpoint was hit.
  void hit(ThreadState& thread, const ucontext_t& context, uint64_t signal_data, uint64_t now_ns) noexcept;

  // The same, but the signal was delayed, so the context does not show the access.
  void late_hit(ThreadState& thread, uint64_t signal_data) noexcept;

  // The thread or the measurement ends. Nothing may be called afterwards.
  void end(ThreadState& thread) noexcept;

 private:
  Watch* watch_of(uint64_t signal_data) noexcept;
  void refresh_plans() noexcept;
  void settle(ThreadState& thread, const ucontext_t& context, uint64_t now_ns) noexcept;
  bool ends_with_frame(ThreadState& thread, const ucontext_t& context, Watch& watch) noexcept;
  int watch_next(ThreadState& thread, const RecordedSample& sample, WasteKind kind,
                 uint64_t signal_data) noexcept;
  bool is_watched(BreakpointRange range) const noexcept;
  void finish(ThreadState& thread, Watch& watch, uint64_t now_ns) noexcept;
  void replace(ThreadState& thread, const Watch& watch, uint64_t now_ns) noexcept;
  void release(Watch& watch) noexcept;
  bool is_certain(ThreadState& thread, const Watch& watch, uint64_t now_ns) noexcept;
  void own_hit(ThreadState& thread, const ucontext_t& context, Watch& watch, const HitAt& at) noexcept;
  void decide_by(ThreadState& thread, const ucontext_t& context, Watch& watch, const HitAt& at,
                 uint64_t now_ns) noexcept;
  uint64_t random() noexcept;

  PlanCache plans_;
  WasteCells cells_;
  Watch watches_[kBreakpoints];
  Reservoir reservoir_;
  PrivateMemory private_memory_;
  uint64_t random_;
  uint32_t walk_generation_;  // of the plans
};

}  // namespace hpcrun
