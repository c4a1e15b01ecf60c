#pragma once
// The effects of fork() on measuring in the parent and in the child (docs/sampling.md).

namespace hpcrun {

// Has the C library call the runtime around each fork from now on. Must be called once. Not
// async-signal-safe.
void follow_forks() noexcept;

// Called around an exec of a forked child that waits for its first sample. A process that executes another
// program is counted as that program, unless the exec fails.
void leave_uncounted_before_exec() noexcept;
void count_after_failed_exec() noexcept;

}  // namespace hpcrun
