#pragma once
// Helpers for functions that wait: calls under a guard, and calls that samples must not interrupt
// (hpcrun/sample/waiting.h). Async-signal-safe if the called function is.

#include <errno.h>

#include "hpcrun/guest/cancellation.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/sample/waiting.h"

namespace hpcrun {

// Runs a call under a guard, which also ends if the thread is cancelled in the call.
template <typename Guard, typename Call>
auto guarded(Guard& guard, Call call) {
  const auto result = unless_cancelled(call, [&guard] { guard.end(); });
  const int error = errno;
  guard.end();
  errno = error;
  return result;
}

// Runs a call of the site's function uninterrupted by samples.
template <typename Call>
auto uninterrupted(const WaitSite& site, Call call) {
  Wait wait;
  return wait.begin(site) ? guarded(wait, call) : call();
}

}  // namespace hpcrun

// The site of a call of the C library's function, in the function that intercepts it.
#define HPCRUN_WAIT_SITE(name)                                                         \
  hpcrun::WaitSite {                                                                   \
    hpcrun_next_##name.get(), reinterpret_cast<uint64_t>(__builtin_return_address(0)), \
        reinterpret_cast<uint64_t>(__builtin_frame_address(0))                         \
  }

// Calls the function `name` with these arguments, each of which must be used only here, and returns its
// result.
#define HPCRUN_CALL_UNINTERRUPTED(name, ...)                                                           \
  (hpcrun::process_state.protects_waits                                                                \
       ? hpcrun::uninterrupted(HPCRUN_WAIT_SITE(name), [=] { return HPCRUN_NEXT(name)(__VA_ARGS__); }) \
       : HPCRUN_NEXT(name)(__VA_ARGS__))
