#pragma once
// How long a thread was ready to run and had no processor, as the kernel accounts it (/proc/PID/task/TID/
// schedstat). A wall clock goes on meanwhile, but the thread gives no samples: without this it looks blocked.

#include <cstdint>

namespace hpcrun {

// What of a sum that only grows lies before a moment.
class ReadyTime {
 public:
  void start(uint64_t total_ns) noexcept { told_ns_ = total_ns; }

  // Nanoseconds up to `now` that were not told before, of a sum that was read later, at `read_at`: what came
  // in between is left to the next moment, as a handler that was preempted is.
  uint64_t advance(uint64_t total_ns, uint64_t now, uint64_t read_at) noexcept {
    const uint64_t fresh = total_ns > told_ns_ ? total_ns - told_ns_ : 0;
    const uint64_t later = read_at > now ? read_at - now : 0;
    const uint64_t until_now = fresh > later ? fresh - later : 0;
    told_ns_ += until_now;
    return until_now;
  }

 private:
  uint64_t told_ns_ = 0;
};

// How long a thread of the process was ready and had no processor since it began, in ns; 0 where that is not
// known. Opens a file for it, for three system calls. Async-signal-safe.
uint64_t run_queue_ns(int tid) noexcept;

class RunQueueClock {
 public:
  // Of any thread of the process. Takes a descriptor, and does without where descriptors are few. False: what
  // the thread waits for stays unknown. Async-signal-safe, as is all else here.
  bool open(int tid) noexcept;
  void close() noexcept;

  // Nanoseconds from open() or the last call's `now` up to this one (monotonic_ns()); 0 where that is not
  // known. The thread need not be the calling one, but is in one call at a time. A system call of about 0.8
  // µs.
  uint64_t advance(uint64_t now) noexcept;

  // All of it since the thread began; 0 where that is not known, or the clock is not open.
  uint64_t total() const noexcept;

  int descriptor() const noexcept { return descriptor_; }
  void replace_descriptor(int descriptor) noexcept { descriptor_ = descriptor; }

 private:
  int descriptor_ = -1;
  ReadyTime ready_;
};

// Is it the descriptor of such a clock, or has the program put a file of its own there by raw system calls?
bool is_run_queue_clock(int descriptor) noexcept;

}  // namespace hpcrun
