#pragma once
// Which calls of the allocator a program with one thread makes over and over. Where it is repaired as it
// runs, these are passed over until it makes a second thread: of what is allocated in loops nobody need know
// all, and a program that never has another thread pays for the first ones alone. The runtime counts,
// libhpcrun-memory.so asks. Without locks; async-signal-safe. Zeroed memory is a valid one that passes over
// nothing.

#include <sys/single_threaded.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/memory/outer_calls.h"

namespace hpcrun {

class FrequentCalls {
 public:
  static constexpr uint32_t kOften = 1'000;
  static constexpr uint64_t kSmallBytes = 1'024;  // larger ones are few, and written to as they are made

  // From now on small ones are passed over that were counted kOften times, while the process has one thread
  // as far as the C library knows.
  void begin(bool passes) noexcept {
    for (std::atomic<uint16_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    passes_.store(passes, std::memory_order_relaxed);
  }
  void end() noexcept { passes_.store(false, std::memory_order_relaxed); }
  bool passes_over(uint64_t bytes, const void* frame) const noexcept {
    return __libc_single_threaded && is_frequent(bytes, frame);
  }
  bool is_frequent(uint64_t bytes, const void* frame) const noexcept {
    return counts(bytes) && counts_[place_of(bytes, frame)].load(std::memory_order_relaxed) >= kOften;
  }

  // Of this size, from the same place of the program: by the innermost return addresses, and how deep they
  // are.
  void count(uint64_t bytes, const void* frame) noexcept {
    if (!counts(bytes)) return;
    std::atomic<uint16_t>& count = counts_[place_of(bytes, frame)];
    const uint16_t before = count.load(std::memory_order_relaxed);
    if (before < kOften) count.store(static_cast<uint16_t>(before + 1), std::memory_order_relaxed);
  }

  void learn_outer(uint64_t caller, uint64_t distance) noexcept { outer_.learn(caller, distance); }

 private:
  static constexpr unsigned kCountBits = 12;

  bool counts(uint64_t bytes) const noexcept {
    return passes_.load(std::memory_order_relaxed) && bytes < kSmallBytes;
  }
  uint32_t place_of(uint64_t bytes, const void* frame) const noexcept {
    const uint64_t caller = caller_at(frame), distance = outer_.distance_of(caller);
    uint64_t key = (caller ^ reinterpret_cast<uint64_t>(frame) << 16 ^ bytes << 40) * 0x9e3779b97f4a7c15u;
    if (distance && OuterCalls::is_readable(frame, distance))
      key = (key ^ word_above(frame, static_cast<int64_t>(distance))) * 0xd6e8feb86659fd93u;
    return static_cast<uint32_t>(key >> (64 - kCountBits));
  }

  std::atomic<bool> passes_;
  OuterCalls outer_;
  std::atomic<uint16_t> counts_[1 << kCountBits];
};

// Pages in which an allocation begins that is known: others' are released without a question. May say yes of
// others.
class KnownBeginnings {
 public:
  void add(uint64_t begin) noexcept {
    if (may_hold(begin)) [[likely]]
      return;
    words_[place_of(begin) / 64].fetch_or(uint64_t{1} << place_of(begin) % 64, std::memory_order_relaxed);
  }
  bool may_hold(uint64_t begin) const noexcept {
    return words_[place_of(begin) / 64].load(std::memory_order_relaxed) >> place_of(begin) % 64 & 1;
  }

 private:
  static constexpr unsigned kPageBits = 12;
  static constexpr uint64_t kPlaces = 1 << 16;
  static uint64_t place_of(uint64_t begin) noexcept { return (begin >> kPageBits) % kPlaces; }

  std::atomic<uint64_t> words_[kPlaces / 64];
};

}  // namespace hpcrun
