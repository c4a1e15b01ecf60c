#pragma once
// Programs that the runtime cannot be in (static ones, musl, sanitizers, Go, those whose environment lacks
// it) are sampled from outside, by `prof`, which is asked for it before they run. Asking takes a round trip
// to `prof`, and half a second where it does not answer.

#include <cstddef>

namespace hpcrun {

// Reads where to ask; at start-up. Not async-signal-safe.
void find_outside_sampler() noexcept;

// The calling process is about to execute a program in an environment: if the runtime will not be in it,
// `prof` is asked to sample it. False where the environment names the runtime and the program's loader would
// complain that it cannot be loaded (the program is of another kind, or the file cannot be reached: chroot,
// another user), or where OpenCL's loader alone would load it. Async-signal-safe, also for children of vfork.
// `on_path`: as execvp finds the file.
bool before_exec(const char* file, bool on_path, char* const environment[]) noexcept;

// An environment without the runtime, in memory of the size that the first states.
size_t bytes_without_runtime(char* const environment[]) noexcept;
char* const* without_runtime(char* const environment[], void* memory) noexcept;

// From now on the process executes and starts all programs without the runtime, which asks nobody: they
// inherit a seccomp filter that it must not run under.
void leave_programs_alone() noexcept;

// The calling process executes a Go program, or one with a sanitizer, and has one thread: asks `prof` to
// sample it. True for any such program: nothing of ours may touch it.
bool leave_to_outside() noexcept;

// A program that posix_spawn is about to start. Nothing of ours runs in the child before it; if the runtime
// will not be in it, hpcrun-exec (outside_exec.cpp) is to be started in its place, which asks `prof` first.
// Used on the stack; not async-signal-safe.
class Spawn {
 public:
  Spawn(const char* file, bool on_path, char* const arguments[], char* const environment[]) noexcept;
  ~Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  // True if the environment fits: before_exec()'s result.
  bool fits() const noexcept { return fits_; }

  // What to start in the program's place, and its arguments; nullptr: nothing.
  const char* helper() const noexcept;
  char* const* arguments() const noexcept { return arguments_; }

 private:
  bool prepare(const char* path, char question, char* const arguments[]) noexcept;

  bool fits_ = true;
  char** arguments_ = nullptr;  // in memory of its own: too many for some threads' stacks
  size_t bytes_ = 0;
};

}  // namespace hpcrun
