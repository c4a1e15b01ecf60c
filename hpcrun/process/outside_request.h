#pragma once
// Programs that the runtime cannot be in (static ones, Go, those whose environment lacks it) are sampled from
// outside, by `prof`, which is asked for it before they run. Asking takes a round trip to `prof`, and half a
// second where it does not answer.

#include <cstddef>

namespace hpcrun {

// Reads where to ask; at start-up. Not async-signal-safe.
void find_outside_sampler() noexcept;

// The calling process is about to execute a program in an environment: if the runtime will not be in it,
// `prof` is asked to sample it. False where the environment names the runtime and the program's loader would
// complain that it cannot be loaded: the program is of another kind, or the file cannot be reached (chroot,
// another user). Async-signal-safe, also for children of vfork. `on_path`: as execvp finds the file.
bool before_exec(const char* file, bool on_path, char* const environment[]) noexcept;

// An environment without the runtime, in memory of the size that the first states.
size_t bytes_without_runtime(char* const environment[]) noexcept;
char* const* without_runtime(char* const environment[], void* memory) noexcept;

// The calling process executes a Go program and has one thread: asks `prof` to sample it. True for any Go
// program: nothing of ours may touch it.
bool leave_to_outside() noexcept;

// A program is started by posix_spawn, where nobody can be asked in time: says so in the report, if it is
// static. The result is before_exec's.
bool before_spawn(const char* file, bool on_path, char* const environment[]) noexcept;

}  // namespace hpcrun
