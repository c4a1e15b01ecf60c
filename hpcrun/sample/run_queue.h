#pragma once
// Reads how long a thread was ready to run without a processor, as accounted by the kernel
// (/proc/PID/task/TID/schedstat). A wall clock advances meanwhile, but the thread gives no samples, and would
// look blocked.

#include <cstdint>

namespace hpcrun {

// Divides a growing sum into the parts before given moments.
class ReadyTime {
 public:
  void start(uint64_t total_ns) noexcept { returned_ns_ = total_ns; }

  // Returns the nanoseconds up to `now` that earlier calls did not return. The sum was read later, at
  // `read_at`. Its growth in between is left for the next call: the handler may have been preempted.
  uint64_t advance(uint64_t total_ns, uint64_t now, uint64_t read_at) noexcept {
    const uint64_t fresh = total_ns > returned_ns_ ? total_ns - returned_ns_ : 0;
    const uint64_t later = read_at > now ? read_at - now : 0;
    const uint64_t until_now = fresh > later ? fresh - later : 0;
    returned_ns_ += until_now;
    return until_now;
  }

 private:
  uint64_t returned_ns_ = 0;
};

// Returns how long a thread of the process was ready without a processor since it began, in ns, or 0 if that
// is not known. Opens a file and takes three system calls. Async-signal-safe.
uint64_t run_queue_ns(int tid) noexcept;

class RunQueueClock {
 public:
  // Opens the clock of any thread of the process. Takes a descriptor, unless few are left. Returns false if
  // it fails: the time is then not known. Async-signal-safe, as is all else here.
  bool open(int tid) noexcept;
  void close() noexcept;

  // Returns the nanoseconds from open(), or from the last call's `now`, up to this `now` (monotonic_ns()).
  // Returns 0 if that is not known. May be called for another thread, but by one caller at a time. A system
  // call of about 0.8 µs.
  uint64_t advance(uint64_t now) noexcept;

  // Returns the total since the thread began, or 0 if that is not known or the clock is not open.
  uint64_t total() const noexcept;

  int descriptor() const noexcept { return descriptor_; }
  void replace_descriptor(int descriptor) noexcept { descriptor_ = descriptor; }

 private:
  int descriptor_ = -1;
  ReadyTime ready_;
};

// True if the descriptor belongs to such a clock. False if the program has put a file of its own there by raw
// system calls.
bool is_run_queue_clock(int descriptor) noexcept;

}  // namespace hpcrun
