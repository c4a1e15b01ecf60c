#pragma once
// Objects that start some bytes after the start of the allocator's memory for them. The table finds that
// start. All threads share it, without locks. Forked children inherit it, since they release what their
// parents allocated.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

class MovedObjects {
 public:
  static constexpr size_t kGranule = 16;  // of addresses and offsets
  static constexpr size_t kMaxOffset = 112;
  static constexpr size_t kMaxObjects = 64 * 1024;  // alive at a time

  // Returns false for most objects that were not moved.
  bool may_hold(const void* at) const noexcept {
    const uint8_t classes = classes_.load(std::memory_order_relaxed);
    return classes && classes >> class_of(reinterpret_cast<uintptr_t>(at)) & 1;
  }

  // `offset`: at least kGranule and at most kMaxOffset. The 16 bytes before `at` belong to the object and
  // hold its size, `bytes`, from now on. Returns false if there is no room.
  bool add(void* at, size_t offset, size_t bytes) noexcept;

  // Returns the start of the allocator's memory; `at` itself if the object was not moved.
  void* base_of(void* at) const noexcept;

  // Does the same for an object that is to be released, and removes it.
  void* take(void* at) noexcept;

  // Returns the size of a moved object.
  static size_t bytes_of(const void* at) noexcept;

 private:
  static constexpr size_t kWays = 8;  // of one line
  static constexpr size_t kSets = kMaxObjects / kWays;

  struct alignas(64) Set {
    std::atomic<uint64_t> ways[kWays];  // address and offset / kGranule, packed; 0: free
  };

  static unsigned class_of(uintptr_t address) noexcept { return address / kGranule % 8; }
  std::atomic<uint64_t>* find(const void* at) const noexcept;

  std::atomic<uint8_t> classes_{0};       // of the addresses that were ever added
  std::atomic<bool> has_spilled_{false};  // an object is in its second set
  mutable Set sets_[kSets] = {};
};

}  // namespace hpcrun
