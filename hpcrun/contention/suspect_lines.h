#pragma once
// Cache lines at which samples found threads lately, and of these the ones that several threads were at while
// one of them wrote: each such meeting is a reason to look closer. What samples say of addresses is a guess
// (access_plan.h), and so is this; a line is a suspect, not a finding.
//
// Shared by all threads of a process, without locks; async-signal-safe. Under races a meeting may be missed.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

struct LineVisit {
  uint64_t line;
  uint32_t thread;  // less than kMaxVisitors
  uint8_t words;    // which of the line's eight, a bit for each
  bool writes;
  uint64_t now_ns;  // CLOCK_MONOTONIC
};

struct Meeting {
  uint32_t thread = 0;    // who else was there last
  uint8_t words = 0;      // and where
  uint32_t count = 0;     // of meetings at this line since it was settled, this one included
  uint32_t others = 0;    // that were there lately, as far as they are remembered
  bool was_seen = false;  // somebody was seen there lately, for certain
};

class SuspectLines {
 public:
  static constexpr uint32_t kMaxVisitors = 1u << 20;
  static constexpr uint64_t kTogetherNs = 100'000'000;  // further apart is one after the other
  static constexpr uint32_t kLines = 4096;

  // Takes 256 KiB from the kernel. False: there are none.
  bool start() noexcept;

  // Takes them now (populate_own_memory()).
  void populate() noexcept;

  // True where another thread was there at the same time, and one of both writes.
  bool visit(const LineVisit& visit, Meeting& out) noexcept;

  // Was another thread there lately?
  bool has_others(uint64_t line, uint32_t thread, uint64_t now_ns) const noexcept;

  // Counts the meetings of a line from nothing, after it was looked at.
  void settle(uint64_t line) noexcept;

  // Somebody was there for certain. It is remembered for kSeenNs.
  static constexpr uint64_t kSeenNs = 3'000'000'000;
  void note_seen(uint64_t line, uint64_t now_ns) noexcept;
  bool was_seen(uint64_t line, uint64_t now_ns) const noexcept;

  // Visits for which there was no room, with all lines of their bucket in use.
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kVisitors = 4;  // of a line that are remembered
  static constexpr uint32_t kWays = 4;

  struct Line {
    std::atomic<uint64_t> address;
    std::atomic<uint64_t> visitors[kVisitors];  // when, who, where: packed
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
