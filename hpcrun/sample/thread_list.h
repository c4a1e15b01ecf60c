#pragma once
// The list of measured threads, and its lock. Not async-signal-safe.

#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Held for a few system calls, and never while another lock is taken. The program's signals are blocked
// meanwhile, because their handlers may call code that takes it. Handlers of the runtime do not take it.
class ThreadListLock {
 public:
  ThreadListLock() noexcept;
  ~ThreadListLock();
  ThreadListLock(const ThreadListLock&) = delete;
  ThreadListLock& operator=(const ThreadListLock&) = delete;

 private:
  uint64_t blocked_before_;  // written by the holder; during fork() it is in a static object
};

// These must be called with the lock held.
ThreadState* first_listed_thread() noexcept;
void enlist(ThreadState& thread) noexcept;
// Returns the first thread, which is linked to the others, and empties the list.
ThreadState* take_all_threads() noexcept;

template <typename Visit>
void for_each_thread(Visit visit) noexcept {
  for (ThreadState* thread = first_listed_thread(); thread; thread = thread->next) visit(*thread);
}

// These take the lock.
bool is_listed(int tid) noexcept;
// Removes the calling thread. Returns false if it is not in the list: the thread that ended measuring has
// removed it.
bool delist(const ThreadState* thread) noexcept;

// Called around fork() by the thread that forks. In between, no other thread can open or record a descriptor,
// which the child would inherit without a record. The child releases its copy of the lock. All signals except
// ours are blocked. A process that never had another thread does not lock, because a page that is written to
// here is copied twice.
void hold_threads() noexcept;
void let_threads_go() noexcept;

// Called in a forked child, in which the parent's other threads do not exist.
void reset_threads_after_fork() noexcept;

}  // namespace hpcrun
