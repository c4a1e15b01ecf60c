#pragma once
// Which calls of the allocator a program makes over and over. Where it is repaired as it runs, these are
// passed over until it makes a second thread: of what is allocated in loops nobody need know all, and a
// program that never has another thread pays for the first ones alone. Of the others, too, it pays for some
// at first and with each sample: where ever new ones come, as from a program that recurses, the rest is
// passed over until the next sample. With threads the small ones that come over and over are passed over
// while no search for contention is on. The runtime counts, libhpcrun-memory.so asks. Without locks;
// async-signal-safe. Zeroed memory is a valid one: before begin() nobody wants to know of anything.

#include <sys/single_threaded.h>

#include <atomic>
#include <bit>
#include <cstdint>

#include "hpcrun/memory/outer_calls.h"

namespace hpcrun {

class FrequentCalls {
 public:
  // Threads that allocate at the same time take what they count in from each other: fewer are worth it.
  static constexpr uint32_t kOften = 1'000, kOftenWithThreads = 100;
  // To be told of one takes 80 ns where it is known where it is made. In a large program, which makes ever
  // new calls, it takes 4 us, with the walk of the stack and what is pushed out of the caches (g++): 4 ms at
  // first, and 0.04 % at 20 samples a second.
  static constexpr int32_t kToldAtFirst = 1'000, kToldASample = 5;
  static constexpr uint64_t kSmallBytes = 16'384;
  // Larger ones are fewer, and each of them is more likely to be what threads share later: more of them are
  // told of, wherever they are made, so that the small ones do not use up their share. From kLargeBytes on,
  // where the C library maps each anew, one is told of whatever was before.
  static constexpr int32_t kMiddleAtFirst = 500, kMiddleASample = 20;
  static constexpr uint64_t kLargeBytes = 131'072;

  // From now on small ones are passed over that were counted kOften times, or that came when as many were
  // counted as may be told, while the process has one thread as far as the C library knows.
  void begin(bool passes) noexcept {
    left_.store(kToldAtFirst, std::memory_order_relaxed);
    middle_left_.store(kMiddleAtFirst, std::memory_order_relaxed);
    for (std::atomic<uint64_t>& word : frequent_) word.store(0, std::memory_order_relaxed);
    for (std::atomic<uint16_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    has_threads_.store(false, std::memory_order_relaxed);
    passes_.store(passes, std::memory_order_relaxed);
    are_all_heard_.store(false, std::memory_order_relaxed);
    hear();
  }
  // The process has threads from now on. False: it had, and only the first call counts. `is_searched`:
  // nothing is passed over until search() says otherwise.
  bool begin_threads(bool is_searched) noexcept {
    if (has_threads_.load(std::memory_order_relaxed)) return false;
    is_searched_.store(is_searched, std::memory_order_relaxed);
    has_threads_.store(true, std::memory_order_release);
    hear();
    return true;
  }
  // A search for contention begins, or is over.
  void search(bool is_on) noexcept { is_searched_.store(is_on, std::memory_order_relaxed); }
  // Threads are there, and nothing is passed over.
  bool is_searched() const noexcept { return is_searched_.load(std::memory_order_relaxed); }
  // Somebody wants to know of each call before it is made, also of those that are passed over.
  void hear_all() noexcept {
    are_all_heard_.store(true, std::memory_order_relaxed);
    hear();
  }

  // What most calls look at, and nothing else: a call for so few bytes is passed over, whoever makes it. A
  // thread of which the C library tells nobody, as it makes some itself, is heard from the next sample on.
  bool is_unheard(uint64_t bytes) const noexcept { return bytes < ~heard_.load(std::memory_order_relaxed); }

  bool passes_over(uint64_t bytes, const void* frame) const noexcept {
    if (has_threads_.load(std::memory_order_acquire))
      return !is_searched_.load(std::memory_order_relaxed) && is_repeated(bytes, frame);
    return __libc_single_threaded && is_frequent(bytes, frame);
  }
  // With one thread.
  bool is_frequent(uint64_t bytes, const void* frame) const noexcept {
    if (!counts(bytes)) return false;
    if (bytes >= kSmallBytes) return is_spent(middle_left_);
    return is_spent(left_) || is_repeated(bytes, frame);
  }

  // Of this size, from the same place of the program: by the innermost return addresses, and how deep they
  // are. True: it is the last one to be told of until the next sample.
  bool count(uint64_t bytes, const void* frame) noexcept {
    if (!counts(bytes)) return false;
    const bool is_small = bytes < kSmallBytes;
    if (is_small) count_place(place_of(bytes, frame));
    if (has_threads_.load(std::memory_order_relaxed)) return false;
    return is_last(is_small ? left_ : middle_left_);
  }

  // A sample came: of some more is to be told.
  void renew() noexcept {
    raise(left_, kToldASample);
    raise(middle_left_, kMiddleASample);
    hear();
  }

  void learn_outer(uint64_t caller, uint64_t distance) noexcept { outer_.learn(caller, distance); }

 private:
  static constexpr unsigned kCountBits = 12;
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;

  void hear() noexcept { heard_.store(UINT64_MAX, std::memory_order_relaxed); }
  static bool is_spent(const std::atomic<int32_t>& left) noexcept {
    return left.load(std::memory_order_relaxed) <= 0;
  }
  static void raise(std::atomic<int32_t>& left, int32_t least) noexcept {
    if (left.load(std::memory_order_relaxed) < least) left.store(least, std::memory_order_relaxed);
  }
  bool is_last(std::atomic<int32_t>& left) noexcept {
    left.store(left.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (!is_spent(left)) return false;
    if (is_spent(left_) && !are_all_heard_.load(std::memory_order_relaxed))
      heard_.store(~(is_spent(middle_left_) ? kLargeBytes : kSmallBytes), std::memory_order_relaxed);
    return true;
  }
  bool is_repeated(uint64_t bytes, const void* frame) const noexcept {
    return counts(bytes) && bytes < kSmallBytes && is_frequent_place(place_of(bytes, frame));
  }
  // Of threads that count at the same time some may be lost.
  void count_place(uint32_t place) noexcept {
    if (is_frequent_place(place)) return;
    const auto count = static_cast<uint16_t>(counts_[place].load(std::memory_order_relaxed) + 1);
    counts_[place].store(count, std::memory_order_relaxed);
    if (count < (has_threads_.load(std::memory_order_relaxed) ? kOftenWithThreads : kOften)) return;
    frequent_[place / 64].fetch_or(uint64_t{1} << place % 64, std::memory_order_relaxed);
  }
  bool is_frequent_place(uint32_t place) const noexcept {
    return frequent_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1;
  }
  bool counts(uint64_t bytes) const noexcept {
    return passes_.load(std::memory_order_relaxed) && bytes < kLargeBytes;
  }
  // By the return address, and that of the function that makes the call where it is known how far up it lies.
  // One multiplication: this is asked at each call.
  uint32_t place_of(uint64_t bytes, const void* frame) const noexcept {
    const uint64_t caller = caller_at(frame), distance = outer_.distance_of(caller);
    uint64_t key = caller ^ reinterpret_cast<uint64_t>(frame) << 16 ^ bytes << 40;
    if (distance && OuterCalls::is_readable(frame, distance))
      key += std::rotl(word_above(frame, static_cast<int64_t>(distance)), 29);
    return static_cast<uint32_t>(key * kMix >> (64 - kCountBits));
  }

  std::atomic<uint64_t> heard_;  // but for the calls of fewer bytes than ~heard_
  std::atomic<bool> passes_;
  std::atomic<bool> has_threads_;
  std::atomic<bool> is_searched_;
  std::atomic<bool> are_all_heard_;
  std::atomic<int32_t> left_;         // small ones to be told of
  std::atomic<int32_t> middle_left_;  // those below kLargeBytes
  OuterCalls outer_;
  // Those that were counted kOften times, apart: asked at each call, they are to stay in the first level
  // cache.
  std::atomic<uint64_t> frequent_[(1 << kCountBits) / 64];
  std::atomic<uint16_t> counts_[1 << kCountBits];
};

}  // namespace hpcrun
