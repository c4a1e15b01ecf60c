#pragma once
// Loads words of the stack during a walk. Inside the window (the interrupted thread's own stack above its
// stack pointer) they are loaded directly. Elsewhere, a fault-safe read copies the rest of the page, which
// serves the following loads. Async-signal-safe.

#include <cstdint>
#include <cstring>

#include "hpcrun/guest/safe_load.h"

namespace hpcrun {

class StackMemory {
 public:
  static constexpr uint64_t kBlockBytes = 4096;  // a page: the unit in which readability changes

  // Sets the window, which may be empty. Clears the block, whose memory may have changed.
  void begin(uint64_t window_low, uint64_t window_high) noexcept {
    low_ = window_low;
    span_ = window_high >= window_low + 8 ? window_high - window_low - 8 : 0;
    block_bytes_ = 0;
  }
  // Begins a new walk: resets the count of reads.
  void begin_walk() noexcept { reads_ = 0; }
  // Returns the number of system calls that the walk's loads took.
  [[nodiscard]] uint32_t reads() const noexcept { return reads_; }

  [[nodiscard]] bool in_window(uint64_t address) const noexcept { return address - low_ < span_; }
  uint64_t window_high() const noexcept { return low_ + span_ + 8; }

  [[nodiscard]] bool load(uint64_t address, uint64_t& value) noexcept {
    if (in_window(address)) [[likely]] {
      std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
      return true;
    }
    return load_safely(address, value);
  }

  [[nodiscard]] bool load_safely(uint64_t address, uint64_t& value) noexcept {
    if (address - block_start_ + 8 <= block_bytes_ && address >= block_start_) {
      std::memcpy(&value, block_ + (address - block_start_), sizeof value);
      return true;
    }
    ++reads_;
    const uint64_t to_page_end = kBlockBytes - address % kBlockBytes;
    if (to_page_end < 8) return safe_load_word(address, value);
    block_bytes_ = 0;
    if (!safe_read(address, block_, to_page_end)) return false;
    block_start_ = address;
    block_bytes_ = to_page_end;
    std::memcpy(&value, block_, sizeof value);
    return true;
  }

  // Operands of expressions that load from here: the handler's stack may be too small for them.
  static constexpr unsigned kMaxOperands = 32;
  uint64_t operands[kMaxOperands];

 private:
  uint64_t low_ = 0;
  uint64_t span_ = 0;
  uint64_t block_start_ = 0;
  uint64_t block_bytes_ = 0;
  uint32_t reads_ = 0;
  unsigned char block_[kBlockBytes];
};

}  // namespace hpcrun
