#include "hpcrun/process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/interpose/redirection.h"
#include "hpcrun/process/kinds.h"
#include "hpcrun/process/proc_file.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/late_threads.h"
#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/run_queue.h"
#include "hpcrun/sample/sources.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/sample/thread_list.h"
#include "hpcrun/signals/processor_state.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

// Both steps are one: a thread that is in the list has the sources that the others have.
void arm_and_enlist(ThreadState& thread) noexcept {
  const ThreadListLock lock;
  arm_thread(thread);
  enlist(thread);
}

pthread_key_t exit_key;
pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

// The C library runs key destructors in rounds. Leaving in the second round lets the program's own
// destructors of the first be measured.
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

// Has at_thread_exit() called as the thread ends. For a key beyond the C library's first 32 (if the runtime
// was loaded late) the first value needs an allocation. In a forked child the allocator may be locked, so the
// call is not requested unless the thread that forked had a value. The child's first thread then ends with
// the process.
void ask_for_exit_call() noexcept {
  if (process_state.is_forked && !pthread_getspecific(exit_key)) return;
  pthread_setspecific(exit_key, reinterpret_cast<void*>(kFirstRound));
}

// Creates a thread's state with everything it needs except sources. Returns nullptr, and counts the thread,
// if there is no memory.
ThreadState* make_thread(int tid, const char* name, StackBounds stack) noexcept {
  Arena arena;
  void* memory = arena.allocate(sizeof(ThreadState));
  if (!memory) {
    count_unsampled();
    return nullptr;
  }
  auto* thread = new (memory) ThreadState;
  thread->arena = arena;
  thread->tid = tid;
  thread->name.begin(name);
  thread->index = process_state.thread_count.fetch_add(1, std::memory_order_relaxed);
  // The other threads are measured from their start on, or prepare_thread() sets it.
  if (thread->index == 0 && !process_state.is_forked) thread->run_queue_before_ns = run_queue_ns(tid);
  if (thread->index > 0) call_hooks<&Hooks::second_thread>();
  process_state.file.counter(Counter::Threads).fetch_add(1, std::memory_order_relaxed);
  const uint64_t began_ns = process_state.first_period.began_ns;
  process_state.file.write_thread_start(thread->index, thread->tid,
                                        began_ns ? began_ns : sys_clock_ns(CLOCK_MONOTONIC), name);

  const bool ready =
      thread->unwinder.attach(thread->arena, stack) &&
      thread->tree.attach(process_state.file, thread->arena, thread->index) &&
      (!process_state.config.trace || thread->trace.attach(process_state.file, thread->arena, thread->index));
  if (ready) return thread;
  Arena whole = thread->arena;
  whole.release_all();
  count_unsampled();
  return nullptr;
}

void read_name(int tid, char (&name)[kThreadNameBytes]) noexcept {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  const size_t length = read_proc(path, name, sizeof name);
  name[length > 0 ? length - 1 : 0] = '\0';  // removes the newline
}

// Records the name of any thread of the process that is in the list. Does nothing without /proc.
void note_last_name(ThreadState& thread) noexcept {
  const uint64_t now = monotonic_ns();
  char name[kThreadNameBytes];
  read_name(thread.tid, name);
  if (name[0]) thread.name.note_last(process_state.file, thread.index, name, now);
}

// Counts what was not counted before.
void count_run_queue(ThreadState& thread, uint64_t total_ns) noexcept {
  if (total_ns <= thread.run_queue_before_ns) return;
  process_state.file.counter(Counter::RunQueueNanoseconds)
      .fetch_add(total_ns - thread.run_queue_before_ns, std::memory_order_relaxed);
  thread.run_queue_before_ns = total_ns;
}

void count_run_queue_at_end(ThreadState& thread) noexcept {
  const bool is_open = thread.run_queue.descriptor() >= 0;
  count_run_queue(thread, is_open ? thread.run_queue.total() : run_queue_ns(thread.tid));
}

// Closes a thread's part of the file, and frees its memory.
void end_thread(ThreadState& thread, uint64_t cpu_ns) noexcept {
  disarm_thread(thread);
  call_hooks<&Hooks::thread_end>(thread);
  thread.tree.seal();
  if (process_state.config.trace) thread.trace.seal();
  process_state.file.write_thread_end(thread.index, sys_clock_ns(CLOCK_MONOTONIC), cpu_ns);
  Arena arena = thread.arena;
  arena.release_all();
}

// Returns false if the thread is known already, or no state could be created for it.
bool prepare_thread(int tid, LateThreads& late) noexcept {
  if (late.knows(tid) || is_listed(tid)) return false;
  char name[kThreadNameBytes];
  read_name(tid, name);
  ThreadState* thread = make_thread(tid, name, StackBounds{});
  if (!thread) return false;
  thread->run_queue_before_ns = run_queue_ns(tid);
  arm_late_thread(*thread, late);
  late.add(thread);
  const ThreadListLock lock;
  enlist(*thread);
  return true;
}

// linux_dirent64 (getdents64(2)). The name follows.
struct DirectoryEntry {
  uint64_t inode;
  int64_t next;
  unsigned short bytes;
  unsigned char type;
};
constexpr size_t kNameOffset = 19;

// Returns how many of the running threads were not known yet.
int prepare_new_threads(LateThreads& late) noexcept {
  const long folder = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  const int self = sys_gettid();
  int prepared = 0;
  alignas(DirectoryEntry) static char buffer[16 * 1024];
  for (;;) {
    const long got = raw_syscall(SYS_getdents64, folder, reinterpret_cast<long>(buffer), sizeof buffer);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      at += entry->bytes;
      const int tid = atoi(reinterpret_cast<const char*>(entry) + kNameOffset);
      if (tid > 0 && tid != self && prepare_thread(tid, late)) ++prepared;
    }
  }
  raw_syscall(SYS_close, folder);
  return prepared;
}

}  // namespace

void count_unsampled() noexcept {
  process_state.file.counter(Counter::UnsampledThreads).fetch_add(1, std::memory_order_relaxed);
}

void attach_thread(StackBounds stack) noexcept {
  const AtWork at_work;
  if (!is_sampling_here() || this_thread()) return;
  note_thread_pointer();
  pthread_once(&exit_key_once, make_exit_key);
  // attach_running_threads() may have prepared this thread already.
  if (adopt_late_thread(reinterpret_cast<uint64_t>(__builtin_frame_address(0)))) return;
  char name[kThreadNameBytes];
  sys_thread_name(name);
  ThreadState* thread = make_thread(sys_gettid(), name, stack);
  if (!thread) return;
  thread->handle.store(pthread_self(), std::memory_order_relaxed);
  ask_for_exit_call();
  thread->busy = 1;
  set_this_thread(thread);
  call_hooks<&Hooks::thread_start>();
  arm_and_enlist(*thread);
  // Its name may have been set before it was in the list, and that call then did not find it.
  look_at_name(*thread, monotonic_ns());
  note_memory();
  thread->busy = 0;
}

void attach_running_threads(LateThreads& late) noexcept {
  pthread_once(&exit_key_once, make_exit_key);
  prepare_thread(process_state.pid, late);  // index 0
  // A thread that started meanwhile was created by one that had no event yet. A busy program may create
  // threads without end.
  constexpr int kMaxRounds = 20;
  for (int round = 0; round < kMaxRounds && prepare_new_threads(late) > 0; ++round) continue;
}

void end_all_threads() noexcept {
  const ThreadListLock lock;
  ThreadState* thread = take_all_threads();
  ++process_state.attachment;  // invalidates the states that threads have cached
  while (thread) {
    ThreadState* const next = thread->next;
    note_last_name(*thread);
    count_run_queue_at_end(*thread);
    end_thread(*thread, thread_cpu_ns(*thread));
    thread = next;
  }
}

void disarm_all_threads() noexcept {
  const ThreadListLock lock;
  ++process_state.attachment;  // as above
  for_each_thread(disarm_thread);
}

void note_name(uint64_t handle, const char* name) noexcept {
  if (!is_sampling_here()) return;
  ThreadState* const self = this_thread();
  const uint64_t now = monotonic_ns();
  if (handle == pthread_self()) {
    if (self) self->name.note(process_state.file, self->index, name, now);
    return;
  }
  const ThreadListLock lock;
  for_each_thread([=](ThreadState& thread) {
    if (thread.handle.load(std::memory_order_acquire) == handle)
      thread.name.note(process_state.file, thread.index, name, now);
  });
}

void note_ends() noexcept {
  const ThreadListLock lock;
  for_each_thread([](ThreadState& thread) {
    note_last_name(thread);
    count_run_queue_at_end(thread);
  });
}

void replace_descriptor(int from, int to) noexcept {
  if (to >= 0) process_state.file.replace_descriptor(from, to);  // if not, it is reopened by name
  for (int* const descriptor : {&process_state.inherited_descriptor, &process_state.search_descriptor})
    if (*descriptor == from) *descriptor = to;
  if (LateThreads* late = process_state.late.load(std::memory_order_acquire))
    late->for_each_descriptor([=](std::atomic<int>& descriptor) {
      int expected = from;
      descriptor.compare_exchange_strong(expected, to);
    });
  const ThreadListLock lock;
  for_each_thread([=](ThreadState& thread) {
    if (thread.run_queue.descriptor() == from) thread.run_queue.replace_descriptor(to);
    for (EventState& state : thread.events) {
      if (state.descriptor != from) continue;
      state.descriptor = to;
      renew_perf_signals(to);
    }
  });
}

void refresh_tables() noexcept {
  refresh_modules();
  if (process_state.late.load(std::memory_order_relaxed) && (process_state.starting || is_sampling_here()))
    redirect_calls();
  process_state.table_bytes.store(module_table_bytes(), std::memory_order_relaxed);
}

void refresh_tables_meanwhile() noexcept {
  const uint64_t start = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  refresh_tables();
  const uint64_t end = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  if (end <= start) return;  // if a fault has brought the thread home meanwhile, it is another thread's clock
  for (const Counter counter : {Counter::HandlerNanoseconds, Counter::StartNanoseconds})
    process_state.file.counter(counter).fetch_add(end - start, std::memory_order_relaxed);
}

void detach_thread() noexcept {
  call_hooks<&Hooks::thread_leaves>();
  const AtWork at_work;
  ThreadState* thread = this_thread();
  if (!thread || process_state.pid != sys_getpid() || !delist(thread)) return;
  thread->busy = 1;
  set_this_thread(nullptr);
  char name[kThreadNameBytes];
  const uint64_t now = monotonic_ns();
  sys_thread_name(name);
  thread->name.note_last(process_state.file, thread->index, name, now);
  // Opens no file: other threads may open files, whose descriptors would get other numbers.
  count_run_queue(*thread, thread->run_queue.total());
  end_thread(*thread, thread_cpu_ns(*thread));
}

}  // namespace hpcrun
