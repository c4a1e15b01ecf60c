#pragma once
// The controller's record of each thread from one round to the next: whether it works, and, if pages are
// isolated at random, whether its transactions pay off. For the controller's thread.

#include <cstdint>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

class ThreadVisits {
 public:
  enum class Did : uint8_t {
    Nothing,  // or the thread is new
    Little,   // it ran, but too little for conversion to pay off
    Work,     // it ran for at least a fifth of kCommitNs
  };
  // Returns what the thread did since the previous call.
  Did look(const ThreadRecord& record) noexcept;

  // True if the thread has to stay at home for a while. Applies if pages are isolated at random. A
  // transaction, the time between two commits, must be long enough to pay off, by its exponential average.
  // After its rest the thread is tried for one round and its average continues: one long transaction is
  // enough to stay converted (SHERIFF, section 3.3). Called at each round in which the thread did Work, at
  // `now_ns`.
  bool rests(ThreadRecord& record, uint64_t now_ns) noexcept;
};

}  // namespace hpcrun
