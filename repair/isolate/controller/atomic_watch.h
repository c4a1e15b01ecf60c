#pragma once
// Watches whether the program executes atomic instructions of its own before the first page is private.
// Threads may use them to announce what they wrote, and receive such announcements by plain loads and stores,
// which cannot be intercepted (TMI, section 3.4.2, needs a compiler for more). Converted threads run into the
// replaced instructions (atomic_sites.h) even while they have no page. Programs that execute them often
// therefore never have a private page. Operations that began earlier, such as a lock that was taken at home
// and is released by a plain store, have ended if they take less time than the watch.
//
// For the controller's thread. Times are CLOCK_MONOTONIC in ns.

#include <cstdint>

namespace hpcrun {

class AtomicWatch {
 public:
  // The watch lasts this long, with all threads running as converted threads in each round, or waiting in
  // calls. Each new converted thread is watched as long.
  static constexpr uint64_t kWatchNs = 20'000'000;
  // The limit if that does not happen: some threads cannot be converted, or get no processor.
  static constexpr uint64_t kLongestNs = 200'000'000;

  // The activity of the threads since the previous round.
  struct Round {
    bool has_worked = false;   // at least one of them did
    bool all_are_seen = true;  // each one that is not in a call was converted, and ran
  };

  // Called at each round of a session. Returns true if pages may be private for the rest of it.
  bool is_over_after(const Round& round, uint64_t now_ns) noexcept;
  bool is_over() const noexcept { return is_over_; }
  // Starts over for the next session.
  void begin_anew() noexcept { *this = {}; }

 private:
  uint64_t first_ns_ = 0;  // the first round in which threads worked; 0: none yet
  uint64_t since_ns_ = 0;  // since when all are seen; 0: not all are
  bool is_over_ = false;
};

}  // namespace hpcrun
