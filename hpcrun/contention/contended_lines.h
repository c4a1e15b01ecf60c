#pragma once
// Keeps the cache lines that threads share falsely, or that the repair plan names: locks there should move. A
// filter of fixed size, which may also hold other lines. Header only, because libprof-locks.so reads it as
// well. May be used from any thread without locks. Async-signal-safe. Zeroed memory is a valid empty object.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class ContendedLines {
 public:
  static constexpr uint32_t kBits = 4096;
  // With more bits set, the filter would hold too many other lines.
  static constexpr uint32_t kMaxLines = kBits / 8;

  // Adds a line, by any address in it. Returns false if there is no room.
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

  std::atomic<uint32_t> count_;  // number of set bits
  std::atomic<uint64_t> words_[kBits / 64];
};

}  // namespace hpcrun

// Exported by the runtime under this name.
extern "C" __attribute__((visibility("default"))) hpcrun::ContendedLines hpcrun_contended_lines;
constexpr char kContendedLinesName[] = "hpcrun_contended_lines";
