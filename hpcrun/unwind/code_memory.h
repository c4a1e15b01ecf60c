#pragma once
// Reads bytes of code during a walk: around return addresses, and up to the ends of functions without unwind
// tables. Reads are made in blocks, one system call each: recursion returns to the same few addresses, and a
// function's bytes lie together. Contents are valid for one walk only, as a JIT compiler may reuse the memory
// afterwards. Zeroed memory is a valid empty cache. Async-signal-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hpcrun/guest/safe_load.h"

namespace hpcrun {

class CodeMemory {
 public:
  // Begins a new walk: clears all blocks.
  void begin() noexcept {
    ++walk_;
    reads_ = 0;
  }

  // Copies bytes from the address. Returns false if any of them is not readable.
  [[nodiscard]] bool read(uint64_t from, void* to, size_t bytes) noexcept {
    auto* target = static_cast<unsigned char*>(to);
    while (bytes > 0) {
      const Block& block = block_of(from);
      if (!block.is_readable) return false;
      const uint64_t offset = from % kBlockBytes;
      const size_t piece = std::min<size_t>(bytes, kBlockBytes - offset);
      std::memcpy(target, block.bytes + offset, piece);
      target += piece;
      from += piece;
      bytes -= piece;
    }
    return true;
  }

  // Returns the number of blocks that the walk has read.
  [[nodiscard]] uint32_t reads() const noexcept { return reads_; }

 private:
  static constexpr uint64_t kBlockBytes = 256;  // divides a page, the unit in which readability changes
  static constexpr uint64_t kBlocks = 32;

  struct Block {
    uint64_t number;
    uint64_t walk;
    bool is_readable;
    unsigned char bytes[kBlockBytes];
  };

  const Block& block_of(uint64_t address) noexcept {
    const uint64_t number = address / kBlockBytes;
    Block& block = blocks_[number % kBlocks];
    if (block.walk == walk_ && block.number == number) [[likely]]
      return block;
    block.number = number;
    block.walk = walk_;
    block.is_readable = safe_read(number * kBlockBytes, block.bytes, kBlockBytes);
    ++reads_;
    return block;
  }

  uint64_t walk_;
  uint32_t reads_;
  Block blocks_[kBlocks];
};

}  // namespace hpcrun
