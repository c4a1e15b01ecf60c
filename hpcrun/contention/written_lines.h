#pragma once
// Counts which threads change which bytes of each cache line, and how often one changes it after another. One
// table for a process and its converted threads, without locks.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/memory_access.h"
#include "hpcrun/model/written_line.h"

namespace hpcrun {

class WrittenLines {
 public:
  static constexpr uint32_t kMaxLines = 8192;  // the lines of twice the maximum number of watched pages

  // Reserves 5 MiB, which the kernel provides as they are used. Returns false if there is no memory.
  bool start() noexcept;
  // Resets the table in a forked child, which has none of the parent's lines.
  void reset_after_fork() noexcept;

  // Records that a thread changed these bytes of the line at this address, one bit each. Async-signal-safe.
  void note(uint64_t line, uint32_t thread, uint64_t bytes) noexcept;

  // Calls use(uint64_t address, WrittenLine&) for each changed line of the range.
  template <typename Use>
  void for_each_in(uint64_t low, uint64_t high, Use use) noexcept {
    if (count_.load(std::memory_order_relaxed) == 0) return;
    if (high - low > kFew * kLineBytes) {
      for (uint32_t place = 0; place < kMaxLines; ++place)
        if (const uint64_t line = entries_[place].line.load(std::memory_order_acquire);
            line && line + kLineBytes > low && line < high)
          use(line, entries_[place].status);
      return;
    }
    for (uint64_t line = line_of(low); line < high; line += kLineBytes)
      if (Entry* const entry = find(line, false)) use(line, entry->status);
  }

  // Counts changes that were dropped because there was no room.
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kTries = 64;  // places that a line can have
  static constexpr uint64_t kFew = 256;   // up to this many lines, look-ups are faster than a scan

  struct Entry {
    std::atomic<uint64_t> line;  // 0: free
    WrittenLine status;
  };

  Entry* find(uint64_t line, bool adds) noexcept;
  Entry* replace(uint64_t line) noexcept;

  Entry* entries_ = nullptr;
  std::atomic<uint32_t> count_{0};
  std::atomic<uint64_t> lost_{0};
};

}  // namespace hpcrun
