// The exec family and posix_spawn. An overflow of an event during the kernel's part of execve is delivered
// after it, to the default action in the new image. This was seen on Linux 6.18 in most execs, in spite of
// attr.remove_on_exec. Therefore sampling is suspended while a process execs. A child of vfork shares our
// memory but has no events, so nothing is done for it.

#include "hpcrun/process/exec_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/forks.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/outside_request.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/waiting.h"
#include "hpcrun/signals/virtual_signals.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(execve);
HPCRUN_NEXT_OF(execvpe);
HPCRUN_NEXT_OF(fexecve);
HPCRUN_NEXT_OF(execveat);
HPCRUN_NEXT_OF(posix_spawn);
HPCRUN_NEXT_OF(posix_spawnp);
HPCRUN_NEXT_OF(popen);

namespace {

// Events are armed as well if a forked child waits for its first sample (Waits).
enum class Measured : uint8_t { No, Waits, Yes };

Measured how_measured() noexcept {
  const bool samples = process_state.sampling.load(std::memory_order_relaxed);
  const bool waits = process_state.first_period.is_waiting.load(std::memory_order_relaxed);
  if ((!samples && !waits) || process_state.pid != sys_getpid()) return Measured::No;
  return samples ? Measured::Yes : Measured::Waits;
}

// Stops the events. A sample that is pending arrives at the end of that. It would start a forked child that
// waits for its first sample, together with its events; therefore the child does not wait until end_rest().
Measured begin_rest() noexcept {
  const bool waited =
      how_measured() == Measured::Waits && process_state.first_period.is_waiting.exchange(false);
  const Measured measured = waited ? Measured::Waits : how_measured();
  if (measured != Measured::No) pause_events();
  return measured;
}

void end_rest(Measured measured) noexcept {
  if (measured == Measured::Waits)
    process_state.first_period.is_waiting.store(true, std::memory_order_release);
  if (measured != Measured::No) resume_events();
}

template <typename Exec>
int at_rest(Exec exec) noexcept {
  leave_waits();
  std::atomic<uint64_t>& end = process_state.file.counter(Counter::EndMonotonicNs);
  if (how_measured() == Measured::Yes) call_hooks<&Hooks::exec>(true);
  const Measured measured = begin_rest();
  if (measured == Measured::Waits) leave_uncounted_before_exec();
  if (measured == Measured::Yes) {
    end.store(sys_clock_ns(CLOCK_MONOTONIC),
              std::memory_order_relaxed);  // if it succeeds, this was a normal end
  }
  int result;
  int error;
  {
    const ShownSignals shown(true);
    result = exec();
    error = errno;
  }
  if (measured == Measured::Waits) count_after_failed_exec();
  if (measured == Measured::Yes) end.store(0, std::memory_order_relaxed);
  end_rest(measured);
  if (measured == Measured::Yes) call_hooks<&Hooks::exec>(false);
  errno = error;
  return result;
}

// Stops the events as well: the kernel may kill the process if it cannot deliver their signals.
template <typename Spawn>
auto with_signals_shown(Spawn spawn) noexcept {
  leave_waits();
  if (!has_signals_to_show()) return spawn();
  const Measured measured = begin_rest();
  if (measured == Measured::No) return spawn();
  decltype(spawn()) result;
  int error;
  {
    const ShownSignals shown(false);
    result = spawn();
    error = errno;
  }
  end_rest(measured);
  errno = error;
  return result;
}

// Starts the program with hpcrun-exec if that is necessary, unless the machine's security policy forbids just
// that.
template <typename Itself>
int start(const Spawn& spawn, pid_t* child, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const environment[], Itself itself) noexcept {
  if (!spawn.helper()) return itself();
  const int error =
      HPCRUN_NEXT(posix_spawn)(child, spawn.helper(), actions, attributes, spawn.arguments(), environment);
  return error == EACCES || error == EPERM ? itself() : error;
}

// The path of the file that execveat executes; empty if it is too long to be examined.
class PathAt {
 public:
  PathAt(int folder, const char* path, int flags) noexcept {
    if (!path) return;
    const bool is_itself = !*path && (flags & AT_EMPTY_PATH);
    if (*path != '/' && (folder != AT_FDCWD || is_itself)) {
      add("/proc/self/fd/");
      add(folder < 0 ? 0 : static_cast<unsigned>(folder));
      if (!is_itself) add("/");
    }
    add(path);
  }

  const char* text() const noexcept { return fits_ ? text_ : ""; }

 private:
  void add(const char* part) noexcept {
    const size_t length = strlen(part);
    fits_ = fits_ && length < sizeof text_ - bytes_;
    if (!fits_) return;
    memcpy(text_ + bytes_, part, length + 1);
    bytes_ += length;
  }
  void add(unsigned number) noexcept {
    char digits[12] = {};
    char* first = digits + sizeof digits - 1;
    do *--first = static_cast<char>('0' + number % 10);
    while (number /= 10);
    add(first);
  }

  char text_[1024] = {};  // the caller may be on a small stack
  size_t bytes_ = 0;
  bool fits_ = true;
};

// Returns the number of slots for the arguments of execl and similar functions, up to and including the
// terminating null pointer.
size_t count_slots(const char* first, va_list list) noexcept {
  if (!first) return 1;
  va_list copy;
  va_copy(copy, list);
  size_t count = 2;
  while (va_arg(copy, const char*)) ++count;
  va_end(copy);
  return count;
}

void take_arguments(const char* first, va_list list, char** out) noexcept {
  *out = const_cast<char*>(first);
  while (*out++) *out = const_cast<char*>(va_arg(list, const char*));
}

}  // namespace

// An environment from which the program's loader can load everything. It is on the caller's stack.
#define HPCRUN_FITTING(fits, environment) \
  ((fits) ? (environment)                 \
          : without_runtime(environment, __builtin_alloca(bytes_without_runtime(environment))))

int hpcrun::execute(const char* path, char* const arguments[], char* const environment[]) noexcept {
  char* const* const shown = HPCRUN_FITTING(before_exec(path, false, environment), environment);
  return at_rest([=] { return HPCRUN_NEXT(execve)(path, arguments, shown); });
}

HPCRUN_EXPORT int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  return execute(path, arguments, environment);
}

HPCRUN_EXPORT int execv(const char* path, char* const arguments[]) noexcept {
  return execve(path, arguments, environ);
}

HPCRUN_EXPORT int execvpe(const char* file, char* const arguments[], char* const environment[]) noexcept {
  char* const* const shown = HPCRUN_FITTING(before_exec(file, true, environment), environment);
  return at_rest([=] { return HPCRUN_NEXT(execvpe)(file, arguments, shown); });
}

HPCRUN_EXPORT int execvp(const char* file, char* const arguments[]) noexcept {
  return execvpe(file, arguments, environ);
}

HPCRUN_EXPORT int fexecve(int descriptor, char* const arguments[], char* const environment[]) noexcept {
  const PathAt file(descriptor, "", AT_EMPTY_PATH);
  char* const* const shown = HPCRUN_FITTING(before_exec(file.text(), false, environment), environment);
  return at_rest([=] { return HPCRUN_NEXT(fexecve)(descriptor, arguments, shown); });
}

int hpcrun::execute_at(int folder, const char* path, char* const arguments[], char* const environment[],
                       int flags) noexcept {
  const PathAt file(folder, path, flags);
  char* const* const shown = HPCRUN_FITTING(before_exec(file.text(), false, environment), environment);
  return at_rest([=] { return HPCRUN_NEXT(execveat)(folder, path, arguments, shown, flags); });
}

HPCRUN_EXPORT int execveat(int folder, const char* path, char* const arguments[], char* const environment[],
                           int flags) noexcept {
  return execute_at(folder, path, arguments, environment, flags);
}

HPCRUN_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(sizeof(char*) * count_slots(first, list)));
  take_arguments(first, list, arguments);
  va_end(list);
  return execv(path, arguments);
}

HPCRUN_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(sizeof(char*) * count_slots(first, list)));
  take_arguments(first, list, arguments);
  va_end(list);
  return execvp(file, arguments);
}

// The environment follows the null pointer.
HPCRUN_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  va_list list;
  va_start(list, first);
  auto** arguments = static_cast<char**>(__builtin_alloca(sizeof(char*) * count_slots(first, list)));
  take_arguments(first, list, arguments);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return execve(path, arguments, environment);
}

HPCRUN_EXPORT int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const arguments[],
                              char* const environment[]) {
  const Spawn spawn(path, false, arguments, environment);
  char* const* const shown = HPCRUN_FITTING(spawn.fits(), environment);
  return with_signals_shown([&] {
    return start(spawn, child, actions, attributes, shown, [=] {
      return HPCRUN_NEXT(posix_spawn)(child, path, actions, attributes, arguments, shown);
    });
  });
}

HPCRUN_EXPORT int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const arguments[],
                               char* const environment[]) {
  const Spawn spawn(file, true, arguments, environment);
  char* const* const shown = HPCRUN_FITTING(spawn.fits(), environment);
  return with_signals_shown([&] {
    return start(spawn, child, actions, attributes, shown, [=] {
      return HPCRUN_NEXT(posix_spawnp)(child, file, actions, attributes, arguments, shown);
    });
  });
}

// The C library's popen starts the shell with internal functions that the runtime does not intercept.
HPCRUN_EXPORT FILE* popen(const char* command, const char* mode) {
  return with_signals_shown([=] { return HPCRUN_NEXT(popen)(command, mode); });
}
