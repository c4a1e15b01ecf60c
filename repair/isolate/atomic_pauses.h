#pragma once
// When pages may be private in a program that executes atomic instructions of its own. Its threads may tell
// each other by these of what they wrote, and be told by plain loads and stores, which nobody sees (TMI,
// section 3.4.2, needs a compiler for more): so an atomic instruction has all of them at home before it takes
// effect, and all memory common for a while from there on - as long as what it begins may last, the critical
// section of a lock, or the way of a message. Then pages are private again, after another while in which all
// threads that work run as twins, whose atomic instructions are met, and none is. Programs in which they come
// often are left alone soon.
//
// For the controller's thread. Times are CLOCK_MONOTONIC in ns.

#include <cstdint>

namespace hpcrun {

class AtomicPauses {
 public:
  static constexpr uint64_t kWatchNs = 20'000'000;  // with all threads as twins, before pages are private
  // Where some cannot become any, unless an atomic instruction was met before.
  static constexpr uint64_t kLongestWatchNs = 200'000'000;
  static constexpr uint64_t kShortestRestNs = 20'000'000;
  // How long pages have to be private for the pause to be worth it: a comparison of what they cost needs two
  // quarters of a second (page_balance.h).
  static constexpr uint64_t kWorthNs = 600'000'000;
  // Shorter times in a row, each followed by a rest that is twice as long as the one before: 1.2 s in all.
  static constexpr uint32_t kMostShort = 5;

  // Threads may become twins from now on.
  void begin(uint64_t now_ns) noexcept;
  // At each round of the controller's from then on. `all_are_twins`: of the threads that worked since the
  // round before. True: pages may be private.
  bool may_be_private(uint64_t now_ns, bool all_are_twins) noexcept;

  // The program has executed one, and nobody has a private page any more. False: it is over for good.
  bool rest(uint64_t now_ns) noexcept;
  bool is_resting(uint64_t now_ns) const noexcept { return now_ns < rests_until_ns_; }

 private:
  uint64_t begun_ns_ = 0;
  uint64_t watched_since_ns_ = 0;
  uint64_t private_since_ns_ = 0;  // 0: they are not
  uint64_t rests_until_ns_ = 0;
  uint32_t short_ones_ = 0;
  bool has_met_ = false;
};

}  // namespace hpcrun
