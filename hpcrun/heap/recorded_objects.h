#pragma once
// Keeps the allocations that are recorded in the measurement file, as long as they live: by address, with
// their numbers in the file. One per process, shared by all threads without locks. Async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class RecordedObjects {
 public:
  static constexpr uint64_t kNone = 0;

  // Reserves 64 KiB, which the kernel provides as they are used. Returns false if there is no memory.
  bool start() noexcept;

  // Resets the table in a forked child, which has none of the parent's objects.
  void reset_after_fork() noexcept;

  // Returns the object's number, from 1 on and never used twice, or kNone if there is no room or no number
  // left. `is_new` is set if this call assigned it.
  uint64_t number_of(uint64_t begin, bool& is_new) noexcept;

  // Returns a number for an object that is kept elsewhere, or kNone if none is left.
  uint64_t take_number() noexcept;

  // Removes an object. Returns its number, or kNone if it was not recorded.
  uint64_t remove(uint64_t begin) noexcept;

 private:
  static constexpr uint32_t kPlaces = 8192;
  static constexpr uint32_t kTries = 32;  // places that an address can have

  std::atomic<uint64_t>& place(uint64_t begin, uint32_t step) const noexcept;

  std::atomic<uint64_t>* places_ = nullptr;  // address and number, packed; 0: free
  std::atomic<uint64_t> given_out_{0};
};

}  // namespace hpcrun
