#pragma once
// Makes calls in which the thread may be cancelled. Our code is built without exceptions, so its destructors
// would not run.

#include <pthread.h>

namespace hpcrun {

// Runs the call. If the thread is cancelled in it, runs `cancelled` instead of the code that follows.
template <typename Call, typename Cancelled>
auto unless_cancelled(Call call, Cancelled cancelled) {
  decltype(call()) result{};
  pthread_cleanup_push([](void* raw) { (*static_cast<Cancelled*>(raw))(); }, &cancelled);
  result = call();
  pthread_cleanup_pop(0);
  return result;
}

}  // namespace hpcrun
