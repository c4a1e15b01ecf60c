#include "hpcrun/guest/own_ranges.h"

#include <atomic>

namespace hpcrun {

namespace {

// Each thread has one or two, and the process a few dozen. A lookup scans all of them, in a few microseconds
// at most.
constexpr uint32_t kMaxRanges = 4096;

// `start` is 0 if the entry is free, and `end` is 0 until the range is known.
struct Range {
  std::atomic<uint64_t> start{};
  std::atomic<uint64_t> end{};
  std::atomic<bool> is_in_child{};
};

constinit Range ranges[kMaxRanges];
constinit std::atomic<uint32_t> used{0};  // ranges from this index on were never used

void release(Range& range) noexcept {
  range.end.store(0, std::memory_order_relaxed);
  range.start.store(0, std::memory_order_release);
}

}  // namespace

void note_own_range(const void* at, size_t bytes, bool is_in_child) noexcept {
  const auto start = reinterpret_cast<uint64_t>(at);
  for (uint32_t i = 0; i < kMaxRanges; ++i) {
    uint64_t is_free = 0;
    if (!ranges[i].start.compare_exchange_strong(is_free, start, std::memory_order_acq_rel)) continue;
    ranges[i].is_in_child.store(is_in_child, std::memory_order_relaxed);
    ranges[i].end.store(start + bytes, std::memory_order_release);
    uint32_t known = used.load(std::memory_order_relaxed);
    while (known <= i && !used.compare_exchange_weak(known, i + 1, std::memory_order_release)) {
    }
    return;
  }
}

void remove_own_range(const void* at) noexcept {
  const auto start = reinterpret_cast<uint64_t>(at);
  const uint32_t count = used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    if (ranges[i].start.load(std::memory_order_relaxed) == start) return release(ranges[i]);
}

void keep_own_ranges_of_child() noexcept {
  const uint32_t count = used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    if (!ranges[i].is_in_child.load(std::memory_order_relaxed)) release(ranges[i]);
}

bool is_in_own_range(uint64_t address) noexcept {
  const uint32_t count = used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end = ranges[i].end.load(std::memory_order_acquire);
    const uint64_t start = ranges[i].start.load(std::memory_order_relaxed);
    if (start != 0 && address >= start && address < end) return true;
  }
  return false;
}

}  // namespace hpcrun
