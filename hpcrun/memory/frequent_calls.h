#pragma once
// Which calls of the allocator a program with one thread makes over and over. Where it is repaired as it
// runs, these are passed over until it makes a second thread: of what is allocated in loops nobody need know
// all, and a program that never has another thread pays for the first ones alone. Of the others, too, it pays
// for some at first and with each sample: where ever new ones come, as from a program that recurses, the rest
// is passed over until the next sample. The runtime counts, libhpcrun-memory.so asks. Without locks;
// async-signal-safe. Zeroed memory is a valid one that passes over nothing.

#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/memory/outer_calls.h"

namespace hpcrun {

class FrequentCalls {
 public:
  static constexpr uint32_t kOften = 1'000;
  // To be told of one takes 80 ns, and in a large program five times that, with what is pushed out of the
  // caches, here and at its release: 2 ms at first, and a fifth of a percent at 50 samples a second.
  static constexpr int32_t kToldAtFirst = 5'000, kToldASample = 100;
  static constexpr uint64_t kSmallBytes = 16'384;  // larger ones are few, and written to as they are made

  // From now on small ones are passed over that were counted kOften times, or came when as many were counted
  // as may be told, while the process has one thread as far as the C library knows.
  void begin(bool passes) noexcept {
    left_.store(kToldAtFirst, std::memory_order_relaxed);
    for (std::atomic<uint64_t>& word : frequent_) word.store(0, std::memory_order_relaxed);
    for (std::atomic<uint16_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    passes_.store(passes, std::memory_order_relaxed);
  }
  void end() noexcept { passes_.store(false, std::memory_order_relaxed); }
  bool passes_over(uint64_t bytes, const void* frame) const noexcept {
    return __libc_single_threaded && is_frequent(bytes, frame);
  }
  bool is_frequent(uint64_t bytes, const void* frame) const noexcept {
    if (!counts(bytes)) return false;
    if (is_spent()) return true;
    const uint32_t place = place_of(bytes, frame);
    return frequent_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1;
  }

  // Of this size, from the same place of the program: by the innermost return addresses, and how deep they
  // are. True: it is the last one to be told of until the next sample.
  bool count(uint64_t bytes, const void* frame) noexcept {
    if (!counts(bytes)) return false;
    left_.store(left_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    const uint32_t place = place_of(bytes, frame);
    const auto count = static_cast<uint16_t>(counts_[place].load(std::memory_order_relaxed) + 1);
    if (count <= kOften) counts_[place].store(count, std::memory_order_relaxed);
    if (count == kOften) frequent_[place / 64].fetch_or(uint64_t{1} << place % 64, std::memory_order_relaxed);
    return is_spent();
  }

  // A sample came: of some more is to be told.
  void renew() noexcept {
    if (left_.load(std::memory_order_relaxed) < kToldASample)
      left_.store(kToldASample, std::memory_order_relaxed);
  }

  void learn_outer(uint64_t caller, uint64_t distance) noexcept { outer_.learn(caller, distance); }

 private:
  static constexpr unsigned kCountBits = 12;
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;

  bool is_spent() const noexcept { return left_.load(std::memory_order_relaxed) <= 0; }
  bool counts(uint64_t bytes) const noexcept {
    return passes_.load(std::memory_order_relaxed) && bytes < kSmallBytes;
  }
  // The return address, and that of the function that makes the call where it is known how far up it lies.
  uint64_t code_of(const void* frame) const noexcept {
    const uint64_t caller = caller_at(frame), distance = outer_.distance_of(caller);
    uint64_t code = caller * kMix;
    if (distance && OuterCalls::is_readable(frame, distance))
      code = (code ^ word_above(frame, static_cast<int64_t>(distance))) * kMix;
    return code;
  }
  uint32_t place_of(uint64_t bytes, const void* frame) const noexcept {
    const uint64_t key = (code_of(frame) ^ reinterpret_cast<uint64_t>(frame) << 16 ^ bytes << 40) * kMix;
    return static_cast<uint32_t>(key >> (64 - kCountBits));
  }

  std::atomic<bool> passes_;
  std::atomic<int32_t> left_;  // to be told of
  OuterCalls outer_;
  // Those that were counted kOften times, apart: asked at each call, they are to stay in the first level
  // cache.
  std::atomic<uint64_t> frequent_[(1 << kCountBits) / 64];
  std::atomic<uint16_t> counts_[1 << kCountBits];
};

// Which releases are worth a question: those of allocations that are known, or that are not the allocator's
// as they are. May say yes of others. By the pages in which they begin, and while the process has one thread
// also by the beginnings themselves, of which it counts how many came and went: a program with one thread
// goes on to use the same few pages in which the first allocations were known.
class KnownBeginnings {
 public:
  // `alone`: the process has one thread; after the first time that it had others, pages are all that is
  // known.
  void add(uint64_t begin, bool alone) noexcept {
    add_page(begin);
    if (has_uncounted_.load(std::memory_order_relaxed)) return;
    if (!alone) return end_counting();
    std::atomic<uint8_t>& count = counts_[count_of(begin)];
    const uint8_t before = count.load(std::memory_order_relaxed);
    if (before < kMostCount) count.store(static_cast<uint8_t>(before + 1), std::memory_order_relaxed);
  }
  // For good, whatever becomes of it.
  void keep(uint64_t begin) noexcept {
    add_page(begin);
    counts_[count_of(begin)].store(kMostCount, std::memory_order_relaxed);
  }
  // What was added is gone.
  void remove(uint64_t begin) noexcept {
    if (has_uncounted_.load(std::memory_order_relaxed)) return;
    std::atomic<uint8_t>& count = counts_[count_of(begin)];
    const uint8_t before = count.load(std::memory_order_relaxed);
    if (before > 0 && before < kMostCount)
      count.store(static_cast<uint8_t>(before - 1), std::memory_order_relaxed);
  }
  void end_counting() noexcept { has_uncounted_.store(true, std::memory_order_relaxed); }

  bool may_hold(uint64_t begin) const noexcept {
    if (!holds_page(begin)) [[likely]]
      return false;
    return counts_[count_of(begin)].load(std::memory_order_relaxed) ||
           has_uncounted_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kPageBits = 12, kGranuleBits = 4;
  static constexpr uint64_t kPlaces = 1 << 16;
  static constexpr uint8_t kMostCount = UINT8_MAX;  // stays
  static uint64_t page_of(uint64_t begin) noexcept { return (begin >> kPageBits) % kPlaces; }
  static uint64_t count_of(uint64_t begin) noexcept { return (begin >> kGranuleBits) % kPlaces; }
  void add_page(uint64_t begin) noexcept {
    if (!holds_page(begin)) [[unlikely]]
      pages_[page_of(begin) / 64].fetch_or(uint64_t{1} << page_of(begin) % 64, std::memory_order_relaxed);
  }
  bool holds_page(uint64_t begin) const noexcept {
    return pages_[page_of(begin) / 64].load(std::memory_order_relaxed) >> page_of(begin) % 64 & 1;
  }

  std::atomic<bool> has_uncounted_;
  std::atomic<uint64_t> pages_[kPlaces / 64];
  std::atomic<uint8_t> counts_[kPlaces];
};

}  // namespace hpcrun
