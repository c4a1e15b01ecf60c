#pragma once
// Calls in which the thread may be cancelled. Without exceptions no destructor of ours would run.

#include <pthread.h>

namespace hpcrun {

// Runs the call. Where the thread is cancelled in it, runs `cancelled` instead of what follows.
template <typename Call, typename Cancelled>
auto unless_cancelled(Call call, Cancelled cancelled) {
  decltype(call()) result{};
  pthread_cleanup_push([](void* raw) { (*static_cast<Cancelled*>(raw))(); }, &cancelled);
  result = call();
  pthread_cleanup_pop(0);
  return result;
}

}  // namespace hpcrun
