#pragma once
// Whether the program executes atomic instructions of its own, before the first page is private: its threads
// may tell each other by these of what they wrote, and be told by plain loads and stores, which nobody sees
// (TMI, section 3.4.2, needs a compiler for more). Converted threads meet them (atomic_sites.h) also while
// they have no page. So programs that execute them often never have a private page, and what was begun by one
// before - a lock taken at home, that is released by a plain store - has come to its end where that takes
// less.
//
// For the controller's thread. Times are CLOCK_MONOTONIC in ns.

#include <cstdint>

namespace hpcrun {

class AtomicWatch {
 public:
  // With all threads as converted threads that ran in each round, or in calls. Each new converted thread is
  // watched as long.
  static constexpr uint64_t kWatchNs = 20'000'000;
  // Where that does not come about: some threads cannot become converted threads, or have no processor.
  static constexpr uint64_t kLongestNs = 200'000'000;

  // What the threads did since the round before.
  struct Round {
    bool has_worked = false;   // one of them did
    bool all_are_seen = true;  // each that is not in a call was a converted thread, and ran
  };

  // At each round of a session. True: pages may be private, for the rest of it.
  bool is_over_after(const Round& round, uint64_t now_ns) noexcept;
  bool is_over() const noexcept { return is_over_; }
  // Of the next session.
  void begin_anew() noexcept { *this = {}; }

 private:
  uint64_t first_ns_ = 0;  // round in which threads worked; 0: there was none
  uint64_t since_ns_ = 0;  // all are seen; 0: they are not
  bool is_over_ = false;
};

}  // namespace hpcrun
