#include "hpcrun/process/threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <threads.h>
#include <time.h>

#include <atomic>
#include <new>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/next.h"
#include "hpcrun/process/start.h"
#include "hpcrun/process/virtual_signals.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"

HPCRUN_NEXT_OF(pthread_create);
HPCRUN_NEXT_OF(thrd_create);

namespace hpcrun {

namespace {

// All attached threads. The lock is held for a few system calls and never while another is taken. The
// program's signals wait meanwhile, since their handlers may call what takes it; ours does not.
std::atomic_flag list_lock;
ThreadState* first_thread = nullptr;

class ListLock {
 public:
  ListLock() noexcept {
    const uint64_t signals = ~source_signals();
    raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&signals),
                reinterpret_cast<long>(&blocked_before_), sizeof signals);
    while (list_lock.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  }
  ~ListLock() {
    list_lock.clear(std::memory_order_release);
    raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&blocked_before_), 0,
                sizeof blocked_before_);
  }
  ListLock(const ListLock&) = delete;
  ListLock& operator=(const ListLock&) = delete;

 private:
  uint64_t blocked_before_ = 0;
};

// At once: a thread that is in the list has the sources that the others have.
void arm_and_enlist(ThreadState& thread) noexcept {
  const ListLock lock;
  arm_thread(thread);
  thread.next = first_thread;
  first_thread = &thread;
}

void delist(ThreadState& thread) noexcept {
  const ListLock lock;
  ThreadState** link = &first_thread;
  while (*link && *link != &thread) link = &(*link)->next;
  if (*link) *link = thread.next;
}

pthread_key_t exit_key;
pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

// The C library runs key destructors in rounds; leaving in the second lets the program's own destructors of
// the first be measured.
constexpr uintptr_t kFirstRound = 1;
constexpr uintptr_t kSecondRound = 2;

void at_thread_exit(void* round) noexcept {
  if (reinterpret_cast<uintptr_t>(round) == kFirstRound &&
      pthread_setspecific(exit_key, reinterpret_cast<void*>(kSecondRound)) == 0)
    return;
  detach_thread();
}

void make_exit_key() noexcept {
  pthread_key_create(&exit_key, at_thread_exit);
}

// Allocates (its list of processors): for the first thread only.
StackBounds stack_of_first_thread() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<uint64_t>(low);
  return {at, at + bytes};
}

// Size of the stack that a thread created with these attributes has at least.
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

// The thread's descriptor lies at the upper end of its stack, within the last page.
StackBounds stack_below_descriptor(size_t bytes) noexcept {
  constexpr size_t kDescriptorBytes = 4096;
  const uint64_t high = pthread_self();
  return {bytes > kDescriptorBytes ? high - (bytes - kDescriptorBytes) : high, high};
}

void count_unsampled() noexcept {
  process_state.file.counter(Counter::UnsampledThreads).fetch_add(1, std::memory_order_relaxed);
}

void attach_thread(StackBounds stack) noexcept {
  if (!is_sampling_here() || thread_state) return;
  pthread_once(&exit_key_once, make_exit_key);

  Arena arena;
  void* memory = arena.allocate(sizeof(ThreadState));
  if (!memory) return count_unsampled();
  auto* thread = new (memory) ThreadState;
  thread->arena = arena;
  thread->tid = sys_gettid();
  thread->index = process_state.thread_count.fetch_add(1, std::memory_order_relaxed);
  process_state.file.counter(Counter::Threads).fetch_add(1, std::memory_order_relaxed);
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  process_state.file.write_thread_start(thread->index, thread->tid, sys_clock_ns(CLOCK_MONOTONIC), name);

  const bool ready =
      thread->unwinder.attach(thread->arena, stack) &&
      thread->tree.attach(process_state.file, thread->arena, thread->index) &&
      (!process_state.config.trace || thread->trace.attach(process_state.file, thread->arena, thread->index));
  if (!ready) {
    Arena whole = thread->arena;
    whole.release_all();
    return count_unsampled();
  }
  pthread_setspecific(exit_key, reinterpret_cast<void*>(kFirstRound));
  thread->busy = 1;
  thread_state = thread;
  arm_and_enlist(*thread);
  note_memory();
  thread->busy = 0;
}

template <typename Result>
struct Start {
  Result (*routine)(void*);
  void* argument;
  SignalMask blocked;
  size_t stack_bytes;
};

// A call in tail position, so that no frame of ours stands between the C library's thread start and the
// program's routine.
template <typename Result>
HPCRUN_TAIL_CALLS Result run_thread(void* raw) noexcept {
  auto* start = static_cast<Start<Result>*>(raw);
  Result (*const routine)(void*) = start->routine;
  void* const argument = start->argument;
  const size_t bytes = start->stack_bytes;
  inherit_virtual_blocked(start->blocked);
  adopt_kernel_mask();
  sys_munmap(start, sizeof *start);
  attach_thread(stack_below_descriptor(bytes));
  return routine(argument);
}

// Calls create(routine, argument) with ours around the program's. What needs a stack of some size is done
// here, on the creator's: the new thread's may be the smallest possible.
template <typename Result, typename Create>
int create_measured(const pthread_attr_t* attributes, Result (*routine)(void*), void* argument,
                    Create create) noexcept {
  start_process();
  if (!is_sampling_here()) return create(routine, argument);
  if (modules_are_stale()) refresh_tables();
  // A page of its own: the program's allocator may not be ready here, and must not see a foreign free.
  using Started = Start<Result>;
  void* memory =
      sys_mmap(nullptr, sizeof(Started), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    count_unsampled();
    return create(routine, argument);
  }
  auto* start =
      new (memory) Started{routine, argument, virtual_blocked_for(attributes), stack_bytes(attributes)};
  const int error = create(run_thread<Result>, start);
  if (error) sys_munmap(memory, sizeof(Started));
  return error;
}

}  // namespace

void attach_first_thread() noexcept {
  attach_thread(stack_of_first_thread());
}

void stop_using_sigtrap() noexcept {
  if (!is_sampling_here() || !choose_timers_instead_of_sigtrap()) return;
  const ListLock lock;
  for (ThreadState* thread = first_thread; thread; thread = thread->next) arm_cpu_timer(*thread);
}

void use_timer_signal(int signal) noexcept {
  const ListLock lock;
  process_state.timer_signal = signal;
  for (ThreadState* thread = first_thread; thread; thread = thread->next) rearm_timers(*thread);
}

void replace_descriptor(int from, int to) noexcept {
  if (to >= 0) process_state.file.replace_descriptor(from, to);  // if not, it is reopened by name
  if (process_state.inherited_descriptor == from) process_state.inherited_descriptor = to;
  const ListLock lock;
  for (ThreadState* thread = first_thread; thread; thread = thread->next) {
    for (EventState& state : thread->events) {
      if (state.descriptor != from) continue;
      state.descriptor = to;
      renew_perf_signals(to);
    }
  }
}

void follow_pause() noexcept {
  const ListLock lock;
  const bool paused = process_state.file.pause_switch().is_paused();
  pace_inherited_event(paused);
  for (ThreadState* thread = first_thread; thread; thread = thread->next) pace_thread(*thread, paused);
}

void forget_threads() noexcept {
  first_thread = nullptr;
  list_lock.clear();
}

void refresh_tables() noexcept {
  refresh_modules();
  process_state.table_bytes.store(module_table_bytes(), std::memory_order_relaxed);
}

void detach_thread() noexcept {
  ThreadState* thread = thread_state;
  if (!thread || process_state.pid != sys_getpid()) return;
  thread->busy = 1;
  delist(*thread);
  disarm_thread(*thread);
  thread_state = nullptr;
  thread->tree.seal();
  if (process_state.config.trace) thread->trace.seal();
  process_state.file.write_thread_end(thread->index, sys_clock_ns(CLOCK_MONOTONIC),
                                      sys_clock_ns(CLOCK_THREAD_CPUTIME_ID));
  Arena arena = thread->arena;
  arena.release_all();
}

}  // namespace hpcrun

HPCRUN_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                 void* argument) noexcept {
  return hpcrun::create_measured(attributes, routine, argument, [=](void* (*start)(void*), void* with) {
    return HPCRUN_NEXT(pthread_create)(thread, attributes, start, with);
  });
}

// The C library's does not go through pthread_create.
HPCRUN_EXPORT int thrd_create(thrd_t* thread, thrd_start_t routine, void* argument) {
  return hpcrun::create_measured(nullptr, routine, argument, [=](thrd_start_t start, void* with) {
    return HPCRUN_NEXT(thrd_create)(thread, start, with);
  });
}
