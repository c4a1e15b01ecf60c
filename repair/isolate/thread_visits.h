#pragma once
// What the controller knows of each thread from one of its rounds to the next: whether it works, and, where
// pages are isolated at random, whether its transactions are worth it. For the controller's thread.

#include <cstdint>

#include "repair/isolate/thread_record.h"

namespace hpcrun {

class ThreadVisits {
 public:
  // Whether the thread worked since this was asked last.
  bool has_worked(const ThreadRecord& record) noexcept;

  // Where pages are isolated at random, transactions - what is between two commits - have to be long enough
  // to be worth it, by their exponential average; a thread whose are not stays at home for a while, and is
  // tried again (SHERIFF, section 3.3).
  bool rests(ThreadRecord& record) noexcept;

  // Of all threads.
  void end_visit() noexcept;

 private:
  uint64_t ended_ns_ = 0;  // the one before
};

}  // namespace hpcrun
