#include "hpcrun/process/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <new>

#include "hpcrun/guest/syscalls.h"
#include "hpcrun/process/next.h"
#include "hpcrun/process/virtual_signals.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/modules.h"

HPCRUN_NEXT_OF(pthread_create);

namespace hpcrun {

namespace {

// All attached threads. The lock is held for a few instructions, outside handlers only, and never while
// another is taken.
std::atomic_flag list_lock;
ThreadState* first_thread = nullptr;

class ListLock {
 public:
  ListLock() noexcept {
    while (list_lock.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  }
  ~ListLock() { list_lock.clear(std::memory_order_release); }
  ListLock(const ListLock&) = delete;
  ListLock& operator=(const ListLock&) = delete;
};

void enlist(ThreadState& thread) noexcept {
  const ListLock lock;
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

StackBounds stack_of_this_thread() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<uint64_t>(low);
  return {at, at + bytes};
}

struct Start {
  void* (*routine)(void*);
  void* argument;
  SignalMask blocked;
};

// A call in tail position, so that no frame of ours stands between the C library's thread start and the
// program's routine.
__attribute__((optimize("O2"))) void* run_thread(void* raw) noexcept {
  auto* start = static_cast<Start*>(raw);
  void* (*const routine)(void*) = start->routine;
  void* const argument = start->argument;
  inherit_virtual_blocked(start->blocked);
  adopt_kernel_mask();
  sys_munmap(start, sizeof *start);
  attach_thread();
  return routine(argument);
}

}  // namespace

void attach_thread() noexcept {
  if (!process_state.sampling.load(std::memory_order_acquire) || thread_state) return;
  if (modules_are_stale()) refresh_tables();
  pthread_once(&exit_key_once, make_exit_key);

  Arena arena;
  void* memory = arena.allocate(sizeof(ThreadState));
  if (!memory) return;
  auto* thread = new (memory) ThreadState;
  thread->arena = arena;
  thread->tid = sys_gettid();
  thread->index = process_state.thread_count.fetch_add(1, std::memory_order_relaxed);
  process_state.file.counter(Counter::Threads).fetch_add(1, std::memory_order_relaxed);
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  process_state.file.write_thread_start(thread->index, thread->tid, sys_clock_ns(CLOCK_MONOTONIC), name);

  const bool ready =
      thread->unwinder.attach(thread->arena, stack_of_this_thread()) &&
      thread->tree.attach(process_state.file, thread->arena, thread->index) &&
      (!process_state.config.trace || thread->trace.attach(process_state.file, thread->arena, thread->index));
  if (!ready) {
    Arena whole = thread->arena;
    whole.release_all();
    return;
  }
  pthread_setspecific(exit_key, reinterpret_cast<void*>(kFirstRound));
  thread->busy = 1;
  thread_state = thread;
  arm_thread(*thread);
  enlist(*thread);
  note_memory();
  thread->busy = 0;
}

void stop_using_sigtrap() noexcept {
  if (!choose_timers_instead_of_sigtrap()) return;
  const ListLock lock;
  for (ThreadState* thread = first_thread; thread; thread = thread->next) arm_cpu_timer(*thread);
}

void use_timer_signal(int signal) noexcept {
  const ListLock lock;
  process_state.timer_signal = signal;
  for (ThreadState* thread = first_thread; thread; thread = thread->next) rearm_timers(*thread);
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
  if (!thread) return;
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
  using namespace hpcrun;
  auto* create = HPCRUN_NEXT(pthread_create);
  if (!process_state.sampling.load(std::memory_order_relaxed))
    return create(thread, attributes, routine, argument);
  // A page of its own: the program's allocator may not be ready here, and must not see a foreign free.
  void* memory = sys_mmap(nullptr, sizeof(Start), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return create(thread, attributes, routine, argument);
  auto* start = new (memory) Start{routine, argument, virtual_blocked_for(attributes)};
  const int error = create(thread, attributes, run_thread, start);
  if (error) sys_munmap(memory, sizeof(Start));
  return error;
}
