#pragma once
// The threads that are measured, and the lock of that list. Not async-signal-safe.

#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Held for a few system calls, and never while another lock is taken. The program's signals wait meanwhile,
// since their handlers may call what takes it; ours do not.
class ThreadListLock {
 public:
  ThreadListLock() noexcept;
  ~ThreadListLock();
  ThreadListLock(const ThreadListLock&) = delete;
  ThreadListLock& operator=(const ThreadListLock&) = delete;

 private:
  uint64_t blocked_before_;  // written by who holds the lock: for fork() it lies where all find it
};

// These are for whoever holds the lock.
ThreadState* first_listed_thread() noexcept;
void enlist(ThreadState& thread) noexcept;
// The first of them, which lead to the others; the list is empty then.
ThreadState* take_all_threads() noexcept;

template <typename Visit>
void for_each_thread(Visit visit) noexcept {
  for (ThreadState* thread = first_listed_thread(); thread; thread = thread->next) visit(*thread);
}

// These take the lock.
bool is_listed(int tid) noexcept;
// Takes the calling thread out. False when it is in the list no more: whoever ended the measuring has done
// it.
bool delist(const ThreadState* thread) noexcept;

// Around fork(), by the thread that forks: in between no other is about to open or note a descriptor, which
// the child would have without knowing it. The child lets go of its copy. Signals but ours are blocked. A
// process that never had another thread holds nothing: a page that is written to here is copied twice.
void hold_threads() noexcept;
void let_threads_go() noexcept;

// In a forked child: the parent's other threads are not there.
void forget_threads() noexcept;

}  // namespace hpcrun
