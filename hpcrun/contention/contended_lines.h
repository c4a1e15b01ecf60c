#pragma once
// Cache lines that threads were found to share falsely, or that the repair plan names: what lies there is
// better moved elsewhere. A filter of fixed size: it may hold lines that nobody added, and forgets none.
// Header only, for libprof-locks.so reads it as well. From any thread, without locks; async-signal-safe.
// Zeroed memory is a valid empty one.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class ContendedLines {
 public:
  static constexpr uint32_t kBits = 4096;
  // With more of its bits set the filter would mean nothing.
  static constexpr uint32_t kMaxLines = kBits / 8;

  // `line`: any address in it. False: there is no room.
  bool add(uint64_t line) noexcept {
    std::atomic<uint64_t>& word = words_[place_of(line) / 64];
    const uint64_t bit = uint64_t{1} << place_of(line) % 64;
    if (word.load(std::memory_order_relaxed) & bit) return true;
    if (count_.load(std::memory_order_relaxed) >= kMaxLines) return false;
    if (!(word.fetch_or(bit, std::memory_order_relaxed) & bit))
      count_.fetch_add(1, std::memory_order_release);
    return true;
  }

  bool holds(uint64_t line) const noexcept {
    return words_[place_of(line) / 64].load(std::memory_order_relaxed) >> place_of(line) % 64 & 1;
  }

  bool is_empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }

 private:
  static constexpr uint32_t kLineBits = 6;

  static uint32_t place_of(uint64_t line) noexcept {
    return static_cast<uint32_t>((line >> kLineBits) * 0x9e3779b97f4a7c15u >> 52);
  }
  static_assert(uint64_t{1} << (64 - 52) == kBits);

  std::atomic<uint32_t> count_;  // of bits that are set
  std::atomic<uint64_t> words_[kBits / 64];
};

}  // namespace hpcrun

// The runtime's; it exports the variable under this name.
extern "C" __attribute__((visibility("default"))) hpcrun::ContendedLines hpcrun_contended_lines;
constexpr char kContendedLinesName[] = "hpcrun_contended_lines";
