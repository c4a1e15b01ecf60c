#pragma once
// The allocations that the measurement file has been told of, as long as they live: by address, with their
// numbers in the file. Shared by all threads of a process, without locks; async-signal-safe.

#include <atomic>
#include <cstdint>

namespace hpcrun {

class RecordedObjects {
 public:
  static constexpr uint64_t kNone = 0;

  // Takes 64 KiB from the kernel, as they are used. False: there are none.
  bool start() noexcept;

  // In a forked child, which has none of the parent's.
  void forget() noexcept;

  // From 1, never given out twice; kNone: there is no room, or no number left. `is_new`: the object has it
  // from this call.
  uint64_t number_of(uint64_t begin, bool& is_new) noexcept;

  // A number for an object that is not among these; kNone: none is left.
  uint64_t take_number() noexcept;

  // It is gone. kNone: it was not told of.
  uint64_t remove(uint64_t begin) noexcept;

 private:
  static constexpr uint32_t kPlaces = 8192;
  static constexpr uint32_t kTries = 32;  // places that an address can be at

  std::atomic<uint64_t>& place(uint64_t begin, uint32_t step) const noexcept;

  std::atomic<uint64_t>* places_ = nullptr;  // address and number, packed; 0: free
  std::atomic<uint64_t> given_out_{0};
};

}  // namespace hpcrun
