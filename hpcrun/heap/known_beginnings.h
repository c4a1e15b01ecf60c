#pragma once
// Which releases are worth a question: those of allocations that are known, or that are not the allocator's
// as they are. May say yes of others. By the pages in which they begin, and by the beginnings themselves, of
// both of which it counts how many came and went: a program goes on to use the same few pages in which the
// first allocations were known. Most releases are of pages in which nothing is known, and look at 4 KiB at
// most, which stay in the first level cache.
//
// Whoever releases an allocation knows of it from whoever made it, and so finds it counted. Shared by all
// threads, without locks; async-signal-safe. Zeroed memory is a valid empty one.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// How much was added at each of so many places, and not removed.
template <uint64_t places>
class Counts {
 public:
  void add(uint64_t place) noexcept { change(place, 1); }
  // What was added.
  void remove(uint64_t place) noexcept { change(place, -1); }
  // For good, whatever is removed.
  void keep(uint64_t place) noexcept { counts_[place % places].store(kMost, std::memory_order_relaxed); }
  bool holds(uint64_t place) const noexcept {
    return counts_[place % places].load(std::memory_order_relaxed);
  }

 private:
  static constexpr uint8_t kMost = UINT8_MAX;  // stays: nobody knows how much it is

  void change(uint64_t place, int by) noexcept {
    std::atomic<uint8_t>& count = counts_[place % places];
    uint8_t before = count.load(std::memory_order_relaxed);
    while (before != kMost && !count.compare_exchange_weak(before, static_cast<uint8_t>(before + by),
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
  // What was added is gone.
  void remove(uint64_t begin) noexcept {
    pages_.remove(page_of(begin));
    beginnings_.remove(granule_of(begin));
  }
  // For good, whatever becomes of it.
  void keep(uint64_t begin) noexcept {
    pages_.keep(page_of(begin));
    beginnings_.keep(granule_of(begin));
  }

  bool may_hold(uint64_t begin) const noexcept {
    return pages_.holds(page_of(begin)) && beginnings_.holds(granule_of(begin));
  }

 private:
  // Threads have heaps of their own, each of which begins at a multiple of 64 MiB: their counts are apart, so
  // that threads write to different lines.
  static uint64_t heap_of(uint64_t begin) noexcept { return begin >> 26; }
  static uint64_t page_of(uint64_t begin) noexcept { return (begin >> 12) + heap_of(begin) * (64 * 9); }
  // Large objects begin at the same place of their pages.
  static uint64_t granule_of(uint64_t begin) noexcept {
    return (begin >> 4) + (begin >> 21) + heap_of(begin) * (64 * 547);
  }

  Counts<4'096> pages_;
  Counts<131'072> beginnings_;
};

}  // namespace hpcrun
