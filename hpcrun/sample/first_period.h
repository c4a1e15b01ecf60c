#pragma once
// Delays the start of measuring in a forked child until its first sample. Most children execute a program or
// end before that, and opening a file costs more than all that they do. Until then the child has the parent's
// file, to which it does not write, and an armed source, and nothing else.
//
// The first period of that source has a random length. A child that runs for less than a period gets a sample
// with probability CPU time / period, and that sample represents a whole period.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// True if children of this process can wait for their first sample: only CPU time is sampled, and only
// samples are recorded. Must be called in the parent or in the child, before the parent's state is released.
bool can_wait_for_first_sample() noexcept;

// Arms the source in the calling thread, which is the child's only one. From then on, a sample calls
// process_state.first_period.start(true). Returns false, with nothing armed, if the kernel refuses.
bool arm_first_period() noexcept;

// Gives what arm_first_period() armed to the process's first thread, as the process starts. Returns true if
// the event needs nothing else.
bool take_first_period(EventState& state) noexcept;

// Excludes the thread's work since its CPU time was `cpu_ns`: it was the runtime's. Must be called right
// before take_first_period().
void leave_out_of_first_period(uint64_t cpu_ns) noexcept;

// Must be called once the first thread has its sources: later threads start with clocks of their own.
void end_first_period(bool by_sample) noexcept;

// Stops what arm_first_period() armed, in a process that cannot be measured.
void disarm_first_period() noexcept;

}  // namespace hpcrun
