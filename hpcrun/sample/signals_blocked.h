#pragma once
// Protects runtime code outside handlers that changes data used by handlers, or holds a lock.

#include "hpcrun/sample/state.h"

namespace hpcrun {

// Blocks the program's signals, so that none of its handlers can interrupt the code or jump away. Our signals
// are not blocked; their handlers check whether the thread is busy.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

// Marks the thread's structures as in use: samples that arrive are dropped.
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
