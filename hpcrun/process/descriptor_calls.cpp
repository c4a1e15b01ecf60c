// Programs that close every descriptor there is (daemons, sandboxes) must not close ours: for them it is not
// open.

#include <errno.h>
#include <unistd.h>

#include "hpcrun/guest/descriptors.h"
#include "hpcrun/process/next.h"

using namespace hpcrun;

namespace {

using CloseRange = int(unsigned, unsigned, int);
using CloseFrom = void(int);

int (*next_close)(int) = nullptr;
CloseRange* next_close_range = nullptr;
CloseFrom* next_closefrom = nullptr;

}  // namespace

HPCRUN_EXPORT int close(int descriptor) {
  if (is_own_descriptor(descriptor)) {
    errno = EBADF;
    return -1;
  }
  return next_function(next_close, "close")(descriptor);
}

HPCRUN_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  auto* next = next_function(next_close_range, "close_range");
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
  auto* next = next_function(next_closefrom, "closefrom");
  if (!next) return;
  unsigned first = lowest < 0 ? 0 : static_cast<unsigned>(lowest);
  constexpr unsigned kLast = ~0u;
  for (int own = next_own_descriptor(first, kLast); own >= 0; own = next_own_descriptor(first, kLast)) {
    for (; first < static_cast<unsigned>(own); ++first)
      next_function(next_close, "close")(static_cast<int>(first));
    ++first;
  }
  next(static_cast<int>(first));
}
