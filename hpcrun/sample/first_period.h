#pragma once
// A forked child is not started until it is sampled for the first time: most children execute a program or
// end before that, and opening a file costs more than all that they do. Until then it has the parent's file,
// to which it does not write, an armed source, and nothing else.
//
// The first period of that source has a random length, so a child that runs for less than a period gets a
// sample with the probability of its CPU time / period, and that sample stands for a whole period.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Whether children of this process can wait for their first sample: it is sampled by CPU time alone, and
// nothing but samples is recorded. Called in the parent or in the child, before anything of the parent's is
// given up.
bool can_wait_for_first_sample() noexcept;

// Arms the source in the calling thread, which is the child's only one. From then on a sample calls
// process_state.first_period.start(true). False if the kernel refuses it: nothing is armed then.
bool arm_first_period() noexcept;

// In the start of the process, for its first thread: what arm_first_period() armed becomes the thread's. True
// if that is all that the event needs.
bool take_first_period(EventState& state) noexcept;

// Right before that: what the thread did since its CPU time was `cpu_ns` was the runtime's.
void leave_out_of_first_period(uint64_t cpu_ns) noexcept;

// After the first thread has its sources: later ones start with clocks of their own.
void end_first_period(bool by_sample) noexcept;

// Stops what arm_first_period() armed, in a process that cannot be measured.
void disarm_first_period() noexcept;

}  // namespace hpcrun
