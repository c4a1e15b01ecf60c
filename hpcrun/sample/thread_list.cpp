#include "hpcrun/sample/thread_list.h"

#include <signal.h>

#include <atomic>
#include <cassert>
#include <new>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/sources.h"

namespace hpcrun {

namespace {

std::atomic_flag list_lock;
ThreadState* first_thread = nullptr;

// Held from before fork() until after it. The lock in it belongs to the thread that forks.
alignas(ThreadListLock) unsigned char fork_lock[sizeof(ThreadListLock)];
bool fork_lock_is_held = false;

}  // namespace

ThreadListLock::ThreadListLock() noexcept {
  const uint64_t signals = ~source_signals();
  uint64_t before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, reinterpret_cast<long>(&signals),
              reinterpret_cast<long>(&before), sizeof signals);
  while (list_lock.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
  blocked_before_ = before;
}

HPCRUN_FORK_PATH ThreadListLock::~ThreadListLock() {
  const uint64_t before = blocked_before_;
  list_lock.clear(std::memory_order_release);
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&before), 0, sizeof before);
}

ThreadState* first_listed_thread() noexcept {
  assert(list_lock.test(std::memory_order_relaxed));
  return first_thread;
}

void enlist(ThreadState& thread) noexcept {
  assert(list_lock.test(std::memory_order_relaxed));
  thread.next = first_thread;
  first_thread = &thread;
}

ThreadState* take_all_threads() noexcept {
  assert(list_lock.test(std::memory_order_relaxed));
  ThreadState* const all = first_thread;
  first_thread = nullptr;
  return all;
}

bool is_listed(int tid) noexcept {
  const ThreadListLock lock;
  const ThreadState* thread = first_thread;
  while (thread && thread->tid != tid) thread = thread->next;
  return thread != nullptr;
}

bool delist(const ThreadState* thread) noexcept {
  const ThreadListLock lock;
  ThreadState** link = &first_thread;
  while (*link && *link != thread) link = &(*link)->next;
  if (!*link || this_thread() != thread) return false;
  *link = thread->next;
  return true;
}

HPCRUN_FORK_PATH void hold_threads() noexcept {
  if (is_alone() || !is_sampling_here()) return;
  new (fork_lock) ThreadListLock;
  fork_lock_is_held = true;
}

HPCRUN_FORK_PATH void let_threads_go() noexcept {
  if (!fork_lock_is_held) return;
  fork_lock_is_held = false;
  reinterpret_cast<ThreadListLock*>(fork_lock)->~ThreadListLock();
}

void reset_threads_after_fork() noexcept {
  first_thread = nullptr;
  list_lock.clear();
}

}  // namespace hpcrun
