#pragma once
// The cache lines that threads change, by address: who changed which bytes, and how often one did after
// another. One table for a process and its threads that are processes; without locks.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/memory_access.h"
#include "hpcrun/model/written_line.h"

namespace hpcrun {

class WrittenLines {
 public:
  static constexpr uint32_t kMaxLines = 8192;  // of twice the pages that can be watched at a time

  // Takes 5 MiB from the kernel, as they are used. False: there are none.
  bool start() noexcept;
  // In a forked child, which has none of the parent's.
  void forget() noexcept;

  // Async-signal-safe. `line` is its address.
  void note(uint64_t line, uint32_t thread, uint64_t bytes) noexcept;

  // use(uint64_t address, WrittenLine&) for those of the range that were changed.
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

  // Changes for which there was no room.
  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kTries = 64;  // places that a line can be at
  static constexpr uint64_t kFew = 256;   // lines that are sooner looked up than looked for

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
