// Hides the runtime's descriptors from the program. A program that closes all descriptors (daemons,
// sandboxes) does not close the runtime's. A program that duplicates a descriptor to a number of the
// runtime's gets that number.

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/signals/wait_calls.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(close);
HPCRUN_NEXT_OF_TYPE(close_range, int(unsigned, unsigned, int));  // glibc 2.34
HPCRUN_NEXT_OF_TYPE(closefrom, void(int));                       // glibc 2.34

HPCRUN_NEXT_OF(dup2);
HPCRUN_NEXT_OF(dup3);

namespace {

// The child of a vfork or _Fork() has its own descriptor table, and may change it freely.
bool is_hidden(int descriptor) noexcept {
  return is_own_descriptor(descriptor) && process_state.pid == sys_getpid();
}

template <typename Duplicate>
int duplicate_to(int from, int to, Duplicate duplicate) noexcept {
  if (!is_hidden(from) && !is_hidden(to)) return duplicate();
  if (is_hidden(from) || raw_syscall(SYS_fcntl, from, F_GETFD) < 0) {
    errno = EBADF;
    return -1;
  }
  replace_descriptor(to, vacate_descriptor(to));
  const int result = duplicate();
  if (result < 0) raw_syscall(SYS_close, to);
  return result;
}

}  // namespace

HPCRUN_EXPORT int dup2(int from, int to) noexcept {
  return duplicate_to(from, to, [=] { return HPCRUN_NEXT(dup2)(from, to); });
}

HPCRUN_EXPORT int dup3(int from, int to, int flags) noexcept {
  return duplicate_to(from, to, [=] { return HPCRUN_NEXT(dup3)(from, to, flags); });
}

HPCRUN_EXPORT int close(int descriptor) {
  if (is_hidden(descriptor)) {
    errno = EBADF;
    return -1;
  }
  return HPCRUN_CALL_UNINTERRUPTED(close, descriptor);  // a socket may linger
}

HPCRUN_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  auto* next = HPCRUN_NEXT(close_range);
  if (!next) {
    errno = ENOSYS;
    return -1;
  }
  for (int own = next_own_descriptor(first, last); own >= 0; own = next_own_descriptor(first, last)) {
    const auto number = static_cast<unsigned>(own);
    if (number > first && next(first, number - 1, flags) != 0) return -1;
    if (number == last) return 0;
    first = number + 1;
  }
  return next(first, last, flags);
}

HPCRUN_EXPORT void closefrom(int lowest) noexcept {
  auto* next = HPCRUN_NEXT(closefrom);
  if (!next) return;
  unsigned first = lowest < 0 ? 0 : static_cast<unsigned>(lowest);
  constexpr unsigned kLast = ~0u;
  for (int own = next_own_descriptor(first, kLast); own >= 0; own = next_own_descriptor(first, kLast)) {
    for (; first < static_cast<unsigned>(own); ++first) HPCRUN_NEXT(close)(static_cast<int>(first));
    ++first;
  }
  next(static_cast<int>(first));
}
