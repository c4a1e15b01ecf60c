#pragma once
// The ring buffer into which the kernel writes the perf records of one processor. Used by one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace prof {

class PerfRing {
 public:
  // Opens it with `pages` pages of records (a power of two). `error` is 0 or an errno: ENODEV where the
  // processor is offline, EPERM where the pages exceed what this user may lock (perf_event_mlock_kb).
  PerfRing(int processor, size_t pages, int& error) noexcept;
  ~PerfRing();
  PerfRing(PerfRing&& other) noexcept;
  PerfRing& operator=(PerfRing&&) = delete;

  int processor() const noexcept { return processor_; }
  int descriptor() const noexcept { return descriptor_; }  // becomes readable when half of it is full
  size_t bytes() const noexcept { return bytes_; }

  // Hands out every record that is there, header first, and makes room for new ones. A record is valid
  // during the call only.
  void read(const std::function<void(std::span<const uint8_t>)>& take);

 private:
  int processor_;
  int descriptor_ = -1;  // a dummy event that owns the ring
  size_t bytes_ = 0;     // of records, behind the control page
  void* control_ = nullptr;
};

}  // namespace prof
