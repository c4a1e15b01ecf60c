// Threads get stacks of common memory. They observe what their creators wrote before, and threads that join
// them observe what they wrote.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "hpcrun/guest/tail_calls.h"
#include "repair/isolate/controller/controller.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/memory/thread_stacks.h"
#include "repair/isolate/preload/committing.h"
#include "repair/isolate/preload/second_allocator.h"
#include "repair/isolate/preload/start.h"
#include "repair/isolate/session/converted_thread.h"

using namespace hpcrun;

HPCRUN_NEXT_OF(pthread_create);

namespace {

// The program's frames must be the outermost, without our frames below them.
HPCRUN_TAIL_CALLS void* run_thread(void* raw) {
  auto* const stack = static_cast<ThreadStack*>(raw);
  const ThreadStart start = stack->start;
  thread_stack_is_used(stack, thread_number());
  return start.routine(start.argument);
}

bool has_own_stack(const pthread_attr_t& attributes) noexcept {
  void* low;
  size_t bytes;
  if (pthread_attr_getstack(&attributes, &low, &bytes) != 0 || reinterpret_cast<uintptr_t>(low) + bytes == 0)
    return false;
  close_to_isolation(low, bytes);
  return true;
}

// Returns a stack for these attributes, and sets it in them. Returns nullptr for the program's own stack, or
// if there is none; the attributes are unchanged then.
ThreadStack* take_stack(pthread_attr_t& attributes) noexcept {
  if (has_own_stack(attributes)) return nullptr;
  size_t bytes = 0, guard_bytes = 0;
  int detached = PTHREAD_CREATE_JOINABLE;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_getguardsize(&attributes, &guard_bytes);
  pthread_attr_getdetachstate(&attributes, &detached);
  ThreadStack* const stack = take_thread_stack(bytes, guard_bytes, detached == PTHREAD_CREATE_DETACHED);
  if (!stack || pthread_attr_setstack(&attributes, stack->begin(), stack->bytes()) == 0) return stack;
  return_thread_stack(stack);
  return nullptr;
}

int create(pthread_t* thread, const pthread_attr_t* wanted, ThreadStart start) noexcept {
  const StaysHome home;
  before_thread();
  follow_heap();
  ensure_controller(HPCRUN_NEXT(pthread_create));
  pthread_attr_t attributes;
  if (wanted)
    memcpy(&attributes, wanted, sizeof attributes);
  else if (pthread_getattr_default_np(&attributes))
    return HPCRUN_NEXT(pthread_create)(thread, wanted, start.routine, start.argument);
  ThreadStack* const stack = take_stack(attributes);
  if (stack) stack->start = start;
  const int error = stack ? HPCRUN_NEXT(pthread_create)(thread, &attributes, run_thread, stack)
                          : HPCRUN_NEXT(pthread_create)(thread, wanted, start.routine, start.argument);
  if (error && stack) return_thread_stack(stack);
  if (!wanted) pthread_attr_destroy(&attributes);
  return error;
}

// Converts an error to the C11 code, as the C library does.
int of_threads_h(int error) noexcept {
  return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

// A thread that has joined or detached another one releases that one's stack.
template <Tells tells, typename Call>
int leaving(pthread_t thread, Call call) {
  const int error = committed<tells>(call);
  if (!error) thread_stack_is_left(thread);
  return error;
}

}  // namespace

HPCRUN_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  return committed<Tells::Others>([=] { return create(thread, attributes, {routine, argument}); });
}

// The C library's C11 call cannot take a stack. The routine's int result is indistinguishable for
// thrd_join().
HPCRUN_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  const auto start = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(routine));
  return of_threads_h(committed<Tells::Others>([=] { return create(thread, nullptr, {start, argument}); }));
}

// The C library treats our stacks as the program's own, without a guard that it knows of. Rust's runtime
// needs one.
HPCRUN_NEXT_OF(pthread_getattr_np);
HPCRUN_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  const int error = HPCRUN_NEXT(pthread_getattr_np)(thread, attributes);
  void* low;
  size_t bytes;
  if (!error && pthread_attr_getstack(attributes, &low, &bytes) == 0)
    if (const size_t guard = guard_of_thread_stack(reinterpret_cast<uint64_t>(low)))
      pthread_attr_setguardsize(attributes, guard);
  return error;
}

HPCRUN_NEXT_OF(sigaltstack);
HPCRUN_EXPORT int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  if (stack && !(stack->ss_flags & SS_DISABLE)) close_to_isolation(stack->ss_sp, stack->ss_size);
  return HPCRUN_NEXT(sigaltstack)(stack, before);
}

#define HPCRUN_LEAVES(tells, name, parameters, arguments, ...)                                  \
  HPCRUN_NEXT_OF(name);                                                                         \
  HPCRUN_EXPORT int name parameters __VA_ARGS__ {                                               \
    return leaving<Tells::tells>(thread, [&]() -> int { return HPCRUN_NEXT(name) arguments; }); \
  }                                                                                             \
  static_assert(true)

HPCRUN_LEAVES(Both, pthread_tryjoin_np, (pthread_t thread, void** value), (thread, value), noexcept);
HPCRUN_LEAVES(Others, pthread_detach, (pthread_t thread), (thread), noexcept);
HPCRUN_LEAVES(Others, thrd_detach, (thrd_t thread), (thread));

// The end of a thread is the only event of threads that the kernel signals by a shared futex. If a thread
// sleeps there while another one forks and memory is left (common_memory.h), it sleeps by the file's page and
// is not woken any more. A joining thread therefore checks again from time to time, even while memory is
// being left.
HPCRUN_NEXT_OF(pthread_clockjoin_np);

namespace {

constexpr long kLookAgainNs = 100'000'000;
constexpr long kSecondNs = 1'000'000'000;

bool is_before(const timespec& one, const timespec& other) noexcept {
  return one.tv_sec != other.tv_sec ? one.tv_sec < other.tv_sec : one.tv_nsec < other.tv_nsec;
}

// `until` may be null. The C library handles an invalid time.
int join_by_steps(pthread_t thread, void** value, clockid_t clock, const timespec* until) {
  while (common_memory_file() >= 0 || has_left_common() || is_common_awaited()) {
    timespec step;
    if (clock_gettime(clock, &step)) break;
    step.tv_nsec += kLookAgainNs;
    if (step.tv_nsec >= kSecondNs) step.tv_nsec -= kSecondNs, ++step.tv_sec;
    if (until && !is_before(step, *until)) break;
    const int error = HPCRUN_NEXT(pthread_clockjoin_np)(thread, value, clock, &step);
    if (error != ETIMEDOUT) return error;
  }
  return HPCRUN_NEXT(pthread_clockjoin_np)(thread, value, clock, until);
}

int join(pthread_t thread, void** value, clockid_t clock, const timespec* until) {
  return leaving<Tells::Both>(thread, [=] { return join_by_steps(thread, value, clock, until); });
}

}  // namespace

HPCRUN_EXPORT int pthread_join(pthread_t thread, void** value) {
  return join(thread, value, CLOCK_MONOTONIC, nullptr);
}
HPCRUN_EXPORT int pthread_timedjoin_np(pthread_t thread, void** value, const timespec* until) {
  return join(thread, value, CLOCK_REALTIME, until);
}
HPCRUN_EXPORT int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                       const timespec* until) {
  return join(thread, value, clock, until);
}
HPCRUN_EXPORT int thrd_join(thrd_t thread, int* value) {
  void* result = nullptr;
  const int error = join(thread, &result, CLOCK_MONOTONIC, nullptr);
  if (!error && value) *value = static_cast<int>(reinterpret_cast<intptr_t>(result));
  return of_threads_h(error);
}

HPCRUN_TELLS(Others, int, pthread_cancel, (pthread_t thread), (thread));
HPCRUN_NEXT_OF(pthread_exit);
HPCRUN_EXPORT __attribute__((noreturn)) void pthread_exit(void* value) {
  commit_own_pages(Stores::Own);
  HPCRUN_NEXT(pthread_exit)(value);
  __builtin_unreachable();
}
HPCRUN_NEXT_OF(thrd_exit);
HPCRUN_EXPORT __attribute__((noreturn)) void thrd_exit(int value) {
  commit_own_pages(Stores::Own);
  HPCRUN_NEXT(thrd_exit)(value);
  __builtin_unreachable();
}
