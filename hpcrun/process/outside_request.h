#pragma once
// Requests to sample programs from outside. The runtime cannot run in static programs, in programs with musl,
// sanitizers or Go, and in those whose environment lacks it. `prof` is requested to sample them before they
// run. A request takes a round trip to `prof`, and half a second if there is no answer.

#include <cstddef>

namespace hpcrun {

// Reads the address of the socket at start-up. Not async-signal-safe.
void find_outside_sampler() noexcept;

// Must be called before the calling process executes a program with this environment. If the runtime will not
// be in the program, `prof` is requested to sample it. Returns false if the environment must change, in one
// of two cases. It names the runtime, but the program's loader would complain that it cannot be loaded: the
// program is of another kind, or the file cannot be reached (chroot, another user). Or only OpenCL's loader
// would load it. Async-signal-safe, also for children of vfork. `on_path`: the file is searched as execvp
// does.
bool before_exec(const char* file, bool on_path, char* const environment[]) noexcept;

// Makes an environment without the runtime, in memory of the size that the first function returns.
size_t bytes_without_runtime(char* const environment[]) noexcept;
char* const* without_runtime(char* const environment[], void* memory) noexcept;

// Has the process execute and start all programs without the runtime, and without requests, from now on: they
// inherit a seccomp filter under which the runtime must not run.
void leave_programs_alone() noexcept;

// If the calling process executes a Go program, or one with a sanitizer, and has one thread, requests `prof`
// to sample it. Returns true for any such program: the runtime must not do anything in it.
bool leave_to_outside() noexcept;

// A program that posix_spawn is about to start. No code of the runtime runs in the child before the program
// does. If the runtime will not be in the program, hpcrun-exec (outside_exec.cpp) is to be started instead,
// which requests `prof` first. Must be on the stack; not async-signal-safe.
class Spawn {
 public:
  Spawn(const char* file, bool on_path, char* const arguments[], char* const environment[]) noexcept;
  ~Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // Returns the result of before_exec().
  bool fits() const noexcept { return fits_; }

  // Return what to start instead of the program, and its arguments; nullptr: start the program.
  const char* helper() const noexcept;
  char* const* arguments() const noexcept { return arguments_; }

 private:
  bool prepare(const char* path, char question, char* const arguments[]) noexcept;

  bool fits_ = true;
  char** arguments_ = nullptr;  // in separate memory: they may not fit on a thread's stack
  size_t bytes_ = 0;
};

}  // namespace hpcrun
