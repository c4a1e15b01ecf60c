#pragma once
// The ring buffer into which the kernel writes the perf records of one processor. Used by one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace prof {

class PerfRing {
 public:
  // Opens the ring with `pages` pages of records (a power of two). `error` is 0 or an errno: ENODEV if the
  // processor is offline, EPERM if the pages exceed what this user may lock (perf_event_mlock_kb).
  PerfRing(int processor, size_t pages, int& error) noexcept;
  ~PerfRing();
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;

  int processor() const noexcept { return processor_; }
  int descriptor() const noexcept { return descriptor_; }  // becomes readable when the ring is half full
  size_t bytes() const noexcept { return bytes_; }

  // Passes each available record to take(), header first, and frees its space. A record is valid during the
  // call only.
  void read(const std::function<void(std::span<const uint8_t>)>& take);

 private:
  int processor_;
  int descriptor_ = -1;  // a dummy event that owns the ring
  size_t bytes_ = 0;     // of records, after the control page
  void* control_ = nullptr;
};

}  // namespace prof
