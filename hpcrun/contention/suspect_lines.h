#pragma once
// Keeps the cache lines at which samples found threads recently. A line that several threads use while one of
// them writes is a suspect, which the watch examines. Addresses derived from samples are guesses
// (access_plan.h), so a suspect is not a finding.
//
// One per process, shared by all threads without locks. Async-signal-safe. A race may miss a meeting.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

struct LineVisit {
  uint64_t line;
  uint32_t thread;  // less than kMaxVisitors
  uint8_t words;    // a bit for each of the line's eight words
  bool writes;
  uint64_t now_ns;  // CLOCK_MONOTONIC
};

struct Meeting {
  uint32_t thread = 0;    // the other thread that used the line last
  uint8_t words = 0;      // the words that it used
  uint32_t count = 0;     // of meetings at this line since settle(), including this one
  uint32_t others = 0;    // number of other threads that used the line recently, up to kVisitors
  bool was_seen = false;  // an access to the line was confirmed recently
};

class SuspectLines {
 public:
  static constexpr uint32_t kMaxVisitors = 1u << 20;
  static constexpr uint64_t kTogetherNs = 100'000'000;  // visits further apart are not a meeting
  static constexpr uint32_t kLines = 4096;

  // Reserves 256 KiB. Returns false if there is no memory.
  bool start() noexcept;

  // Populates this memory now (populate_own_memory()).
  void populate() noexcept;

  // Records a visit. Returns true if it is a meeting: another thread used the line at the same time, and one
  // of the two writes.
  bool visit(const LineVisit& visit, Meeting& out) noexcept;

  // Returns true if another thread used the line recently.
  bool has_others(uint64_t line, uint32_t thread, uint64_t now_ns) const noexcept;

  // Resets the count of meetings, after the line was examined.
  void settle(uint64_t line) noexcept;

  // An access to the line was confirmed; was_seen() is true for kSeenNs.
  static constexpr uint64_t kSeenNs = 3'000'000'000;
  void note_seen(uint64_t line, uint64_t now_ns) noexcept;
  bool was_seen(uint64_t line, uint64_t now_ns) const noexcept;

  // Counts visits that were dropped because all lines of their bucket were in use.
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kVisitors = 4;  // per line
  static constexpr uint32_t kWays = 4;

  struct Line {
    std::atomic<uint64_t> address;
    std::atomic<uint64_t> visitors[kVisitors];  // time, thread and words, packed
    std::atomic<uint32_t> meetings;
    std::atomic<uint64_t> seen_ns;  // 0: never

    bool was_seen(uint64_t now_ns) const noexcept;
    std::atomic<uint64_t>& place_of(uint32_t thread) noexcept;
  };

  Line* bucket_of(uint64_t line) const noexcept;
  Line* find(uint64_t line) const noexcept;
  Line* claim(uint64_t line, uint64_t now_ns) noexcept;

  Line* lines_ = nullptr;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace hpcrun
