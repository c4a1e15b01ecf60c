#pragma once
// For runtime code outside handlers that changes what handlers use, or holds a lock.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// The program's signals wait, so that no handler of the program's can come in between, or jump away; ours do
// not, and find the thread busy where it matters.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

// The thread's structures are in use: a sample that comes is dropped.
class ThreadBusy {
 public:
  explicit ThreadBusy(ThreadState& thread) noexcept : thread_(thread), was_(thread.busy) { thread_.busy = 1; }
  ~ThreadBusy() { thread_.busy = was_; }
  ThreadBusy(const ThreadBusy&) = delete;
  ThreadBusy& operator=(const ThreadBusy&) = delete;

 private:
  ThreadState& thread_;
  sig_atomic_t was_;
};

}  // namespace hpcrun
