#pragma once
// One bit for each page of the address space, in a sparse mapping that all processes of a program share. It
// has no locks and no tables that fill up, and a process that is killed leaves nothing half changed. All
// calls are async-signal-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "repair/isolate/contract/pages.h"

namespace hpcrun {

constexpr uint64_t kAddressSpaceBytes = uint64_t{1} << 47;  // of a program, without five-level page tables

class PageBits {
 public:
  static constexpr size_t kBytes = kAddressSpaceBytes / kPageBytes / 8;

  PageBits() = default;
  explicit PageBits(void* zeroed) noexcept : words_(static_cast<std::atomic<uint64_t>*>(zeroed)) {}

  bool has(uint64_t address) const noexcept {
    return address < kAddressSpaceBytes && (word(address).load(std::memory_order_acquire) & bit(address));
  }

  void set(uint64_t low, uint64_t high) noexcept {
    in_words(low, high, [](std::atomic<uint64_t>& word, uint64_t mask) {
      word.fetch_or(mask, std::memory_order_acq_rel);
    });
  }

  void clear(uint64_t low, uint64_t high) noexcept {
    in_words(low, high, [](std::atomic<uint64_t>& word, uint64_t mask) {
      if (word.load(std::memory_order_relaxed) & mask) word.fetch_and(~mask, std::memory_order_acq_rel);
    });
  }

  bool has_any(uint64_t low, uint64_t high) const noexcept { return last_set(low, high) != high; }

  // Returns the last page in [low, high) whose bit is set, or `high`.
  uint64_t last_set(uint64_t low, uint64_t high) const noexcept {
    for (uint64_t end = high; end > low;) {
      const uint64_t begin = end - kPageBytes > low ? word_begin(end - kPageBytes) : low;
      const uint64_t from = begin > low ? begin : low;
      const uint64_t set = word(from).load(std::memory_order_acquire) & mask(from, end);
      if (set) return word_begin(from) + (63 - static_cast<uint64_t>(__builtin_clzll(set))) * kPageBytes;
      end = from;
    }
    return high;
  }

  // Returns the end of the run of pages from `low` on that are set or clear like the first one; at most
  // `high`.
  uint64_t run_end(uint64_t low, uint64_t high) const noexcept {
    const uint64_t flip = has(low) ? ~uint64_t{0} : 0;
    for (uint64_t from = low; from < high;) {
      const uint64_t end = word_end(from, high);
      const uint64_t other = (word(from).load(std::memory_order_acquire) ^ flip) & mask(from, end);
      if (other) return word_begin(from) + static_cast<uint64_t>(__builtin_ctzll(other)) * kPageBytes;
      from = end;
    }
    return high;
  }

  // Sets the bits of [low, high) if all of them are clear, else none.
  bool claim(uint64_t low, uint64_t high) noexcept {
    for (uint64_t from = low; from < high;) {
      const uint64_t end = word_end(from, high);
      const uint64_t wanted = mask(from, end);
      uint64_t now = word(from).load(std::memory_order_relaxed);
      do {
        if (now & wanted) {
          clear(low, from);
          return false;
        }
      } while (!word(from).compare_exchange_weak(now, now | wanted, std::memory_order_acq_rel));
      from = end;
    }
    return true;
  }

 private:
  static constexpr uint64_t kWordSpan = 64 * kPageBytes;

  static uint64_t word_begin(uint64_t address) { return address / kWordSpan * kWordSpan; }
  static uint64_t word_end(uint64_t address, uint64_t high) {
    const uint64_t end = word_begin(address) + kWordSpan;
    return end < high ? end : high;
  }
  static uint64_t bit(uint64_t address) { return uint64_t{1} << (address / kPageBytes % 64); }
  // For pages of one word.
  static uint64_t mask(uint64_t low, uint64_t high) {
    const uint64_t first = low / kPageBytes % 64, pages = (high - low) / kPageBytes;
    return (pages == 64 ? ~uint64_t{0} : (uint64_t{1} << pages) - 1) << first;
  }
  std::atomic<uint64_t>& word(uint64_t address) const { return words_[address / kWordSpan]; }

  template <typename Use>
  void in_words(uint64_t low, uint64_t high, Use use) noexcept {
    for (uint64_t from = low; from < high;) {
      const uint64_t end = word_end(from, high);
      use(word(from), mask(from, end));
      from = end;
    }
  }

  std::atomic<uint64_t>* words_ = nullptr;
};

}  // namespace hpcrun
