#pragma once
// Programs that the runtime cannot be in (static ones, Go) are sampled from outside, by `prof`, which is
// asked for it before they run. Asking takes a round trip to `prof`, and half a second where it does not
// answer.

namespace hpcrun {

// Reads where to ask; at start-up. Not async-signal-safe.
void find_outside_sampler() noexcept;

// The calling process is about to execute a program: if it is one of those, `prof` is asked to sample it.
// Async-signal-safe, also for children of vfork.
void before_exec(const char* path) noexcept;
void before_exec_on_path(const char* file) noexcept;  // as execvp finds it

// The calling process executes a Go program and has one thread: asks `prof` to sample it. True for any Go
// program: nothing of ours may touch it.
bool leave_to_outside() noexcept;

// A program was started by posix_spawn, where nobody could be asked in time: says so in the report, if it is
// one of those.
void note_spawned(const char* path) noexcept;
void note_spawned_on_path(const char* file) noexcept;

}  // namespace hpcrun
