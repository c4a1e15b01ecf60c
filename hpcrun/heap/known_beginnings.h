#pragma once
// Filters releases: those of known allocations, and of allocations that were placed elsewhere, must be
// reported. May also hold others. It counts what was added and removed, by page and by start address, because
// a program keeps using the few pages of its first known allocations. Most releases concern pages without a
// known allocation; they read at most 4 KiB, which stay in the first-level cache.
//
// A thread that releases an allocation got its address from the one that made it, so it sees the count.
// Shared by all threads without locks. Async-signal-safe. Zeroed memory is a valid empty object.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// Counts at each of so many places what was added and not removed yet.
template <uint64_t places>
class Counts {
 public:
  void add(uint64_t place) noexcept { change(place, 1); }
  // Must be called only for what was added.
  void remove(uint64_t place) noexcept { change(place, -1); }
  // Holds the place permanently, whatever is removed.
  void keep(uint64_t place) noexcept { counts_[place % places].store(kMaxCount, std::memory_order_relaxed); }
  bool holds(uint64_t place) const noexcept {
    return counts_[place % places].load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint8_t kMaxCount = UINT8_MAX;  // is never changed again: the true count is not known

  void change(uint64_t place, int by) noexcept {
    std::atomic<uint8_t>& count = counts_[place % places];
    uint8_t before = count.load(std::memory_order_relaxed);
    while (before != kMaxCount && !count.compare_exchange_weak(before, static_cast<uint8_t>(before + by),
                                                               std::memory_order_relaxed)) {
    }
  }

  std::atomic<uint8_t> counts_[places];
};

class KnownBeginnings {
 public:
  void add(uint64_t begin) noexcept {
    pages_.add(page_of(begin));
    beginnings_.add(granule_of(begin));
  }
  // Removes what was added.
  void remove(uint64_t begin) noexcept {
    pages_.remove(page_of(begin));
    beginnings_.remove(granule_of(begin));
  }
  // Holds the address permanently, whatever is removed.
  void keep(uint64_t begin) noexcept {
    pages_.keep(page_of(begin));
    beginnings_.keep(granule_of(begin));
  }

  bool may_hold(uint64_t begin) const noexcept {
    return pages_.holds(page_of(begin)) && beginnings_.holds(granule_of(begin));
  }

 private:
  // Threads have heaps of their own, which begin at multiples of 64 MiB. Their counts lie apart, so that
  // threads write to different cache lines.
  static uint64_t heap_of(uint64_t begin) noexcept { return begin >> 26; }
  static uint64_t page_of(uint64_t begin) noexcept { return (begin >> 12) + heap_of(begin) * (64 * 9); }
  // Mixes in higher bits: large objects begin at the same offset in their pages.
  static uint64_t granule_of(uint64_t begin) noexcept {
    return (begin >> 4) + (begin >> 21) + heap_of(begin) * (64 * 547);
  }

  Counts<4'096> pages_;
  Counts<131'072> beginnings_;
};

}  // namespace hpcrun
