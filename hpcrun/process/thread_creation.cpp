// Intercepts functions that create threads, so that each thread is measured from its first instruction on.

#include <pthread.h>
#include <threads.h>

#include <new>

#include "hpcrun/device/life.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/guest/tail_calls.h"
#include "hpcrun/interpose/next_function.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/start.h"
#include "hpcrun/process/threads.h"
#include "hpcrun/sample/search_clock.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sample/waiting.h"
#include "hpcrun/signals/virtual_signals.h"
#include "hpcrun/unwind/modules.h"

HPCRUN_NEXT_OF(pthread_create);
HPCRUN_NEXT_OF(thrd_create);

namespace hpcrun {

namespace {

// Returns the minimum size of the stack of a thread created with these attributes.
size_t stack_bytes(const pthread_attr_t* attributes) noexcept {
  pthread_attr_t defaults;
  if (!attributes && pthread_attr_init(&defaults) != 0) return 0;
  size_t bytes = 0;
  size_t guard = 0;
  pthread_attr_getstacksize(attributes ? attributes : &defaults, &bytes);
  pthread_attr_getguardsize(attributes ? attributes : &defaults, &guard);
  if (!attributes) pthread_attr_destroy(&defaults);
  return bytes > guard ? bytes - guard : 0;
}

// Returns the stack below the thread's descriptor, which lies at its upper end, within the last page.
StackBounds stack_below_descriptor(size_t bytes) noexcept {
  constexpr size_t kDescriptorBytes = 4096;
  const uint64_t high = pthread_self();
  return {bytes > kDescriptorBytes ? high - (bytes - kDescriptorBytes) : high, high};
}

template <typename Result>
struct Start {
  Result (*routine)(void*);
  void* argument;
  CreatedMask::Inherited mask;
  size_t stack_bytes;
  bool is_driver;  // part of a device
};

// Uses a tail call, so that no frame of the runtime is between the C library's thread start and the program's
// routine.
template <typename Result>
HPCRUN_TAIL_CALLS Result run_thread(void* raw) noexcept {
  auto* start = static_cast<Start<Result>*>(raw);
  Result (*const routine)(void*) = start->routine;
  void* const argument = start->argument;
  const size_t bytes = start->stack_bytes;
  const bool is_driver = start->is_driver;
  inherit_mask(start->mask);
  sys_munmap(start, sizeof *start);
  thread_is_left_out = is_driver;
  if (!is_driver) attach_thread(stack_below_descriptor(bytes));
  return routine(argument);
}

// Calls create(routine, argument) with our routine around the program's. Work that needs much stack is done
// here, on the creator's stack: the new thread's may have the minimum size.
template <typename Result, typename Create>
int create_measured(const pthread_attr_t* attributes, Result (*routine)(void*), void* argument,
                    const void* creator, Create create) noexcept {
  start_process();
  stop_waiting_for_first_sample();
  if (!is_sampling_here()) return create(routine, argument);
  leave_waits();
  leave_lone_rate();
  process_state.file.write_records();
  call_hooks<&Hooks::second_thread>();
  if (modules_are_stale()) refresh_tables_meanwhile();
  // Uses a page of its own: the program's allocator may not be ready here, and must not see a free of memory
  // that it did not allocate.
  using Started = Start<Result>;
  void* memory =
      sys_mmap(nullptr, sizeof(Started), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    count_unsampled();
    return create(routine, argument);
  }
  const CreatedMask mask(attributes);
  auto* start =
      new (memory) Started{routine, argument, mask.inherited(), stack_bytes(attributes), is_driver(creator)};
  const int error = create(run_thread<Result>, start);
  if (error) sys_munmap(memory, sizeof(Started));
  return error;
}

}  // namespace

}  // namespace hpcrun

HPCRUN_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  const void* const creator = __builtin_return_address(0);
  return hpcrun::create_measured(attributes, routine, argument, creator,
                                 [=](void* (*start)(void*), void* with) {
                                   return HPCRUN_NEXT(pthread_create)(thread, attributes, start, with);
                                 });
}

// The C library's thrd_create does not call pthread_create.
HPCRUN_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  const void* const creator = __builtin_return_address(0);
  return hpcrun::create_measured(nullptr, routine, argument, creator, [=](thrd_start_t start, void* with) {
    return HPCRUN_NEXT(thrd_create)(thread, start, with);
  });
}
