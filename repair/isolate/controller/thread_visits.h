#pragma once
// What the controller knows of each thread from one of its rounds to the next: whether it works, and, where
// pages are isolated at random, whether its transactions are worth it. For the controller's thread.

#include <cstdint>

#include "repair/isolate/session/thread_record.h"

namespace hpcrun {

class ThreadVisits {
 public:
  enum class Did : uint8_t {
    Nothing,  // or it is new
    Little,   // it ran, but is not worth a process
    Work,     // for a fifth of kCommitNs at least
  };
  // What the thread did since this was asked last.
  Did look(const ThreadRecord& record) noexcept;

  // Where pages are isolated at random, transactions - what is between two commits - have to be long enough
  // to be worth it, by their exponential average; a thread whose are not stays at home for a while. Then it is
  // tried again for one round, and its average goes on: one long transaction is enough to stay (SHERIFF,
  // section 3.3). Asked at each round in which the thread did Work, at `now_ns`.
  bool rests(ThreadRecord& record, uint64_t now_ns) noexcept;
};

}  // namespace hpcrun
