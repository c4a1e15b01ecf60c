#pragma once
// Shares the use of a device between the processes of one user: when each had work for the device, and when
// it waited for it (Chabbi's thesis, section 2.6.5). A file in /dev/shm for each device has a slot per
// process. The slot of a dead process is released by the next process that joins, leaves or counts the
// others. One user of an object at a time; not for handlers. Times are in ns of CLOCK_MONOTONIC, which all
// processes of a machine share.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/blame.h"

namespace hpcrun {

// Start of the file names, one file per device and user.
constexpr char kSharedDeviceFiles[] = "/dev/shm/prof-device-";

class SharedDevice {
 public:
  // Takes a slot. Returns false if there is no /dev/shm, the file has another owner, or all slots are taken.
  bool join(const char* uuid) noexcept;
  // Releases the slot; the last process removes the file.
  void leave() noexcept;
  // Resets the state in a forked child: the slot is the parent's.
  void reset() noexcept { *this = SharedDevice{}; }
  bool joined() const noexcept { return file_ != nullptr; }

  // Record that this process has work for the device since then, or no more.
  void begin_work(uint64_t since) noexcept;
  void end_work(uint64_t until) noexcept;

  // Records that a thread waits since then. If the call may also work (`may_work`), it counts as waiting as
  // long as its process has work for the device. Returns the place for end_wait(), or kNoPlace if too many
  // threads wait; such a wait is recorded at its end. May be called by several threads at once.
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  uint32_t begin_wait(uint64_t since, bool may_work = false) noexcept;
  // Ends a wait. Must be called by one thread at a time, unless the interval is empty: the wait is then
  // withdrawn.
  void end_wait(uint32_t place, Interval wait) noexcept;

  // True if a process has joined or left since the last call.
  bool changed() noexcept;

  // Returns the number of other processes that use the device.
  uint32_t others() noexcept;

  // Call use(interval) for the parts of the window in which other processes had work, or waited. Intervals of
  // several processes overlap.
  template <typename Use>
  void for_each_work(Interval window, Use use) noexcept {
    for (uint32_t i = 0; i < kSlots; ++i)
      if (is_others(i)) read(slot(i).work, slot(i).works_since, 1, nullptr, window, use);
  }
  template <typename Use>
  void for_each_wait(Interval window, Use use) noexcept {
    for (uint32_t i = 0; i < kSlots; ++i)
      if (is_others(i))
        read(slot(i).waits, slot(i).waits_since, kOpenWaits, slot(i).works_since, window, use);
  }

 private:
  static constexpr uint32_t kSlots = 64;
  static constexpr uint32_t kKept = 256;  // intervals that have ended, of each kind
  static constexpr uint32_t kOpenWaits = 16;
  static constexpr uint64_t kMayWork = 1;  // flag in the start of an open wait, which is even otherwise

  struct Ring {
    std::atomic<uint64_t> count;
    std::atomic<uint64_t> begins[kKept];
    std::atomic<uint64_t> ends[kKept];
    void push(Interval interval) noexcept;
  };
  struct Slot {
    std::atomic<uint64_t> owner;  // pid and the low half of the process's start time; 0: free
    std::atomic<uint64_t> names;  // inode of the pid namespace
    std::atomic<uint64_t> works_since[1];
    std::atomic<uint64_t> waits_since[kOpenWaits];
    Ring work;
    Ring waits;
  };
  struct File;

  template <typename Use>
  static void read(const Ring& over, const std::atomic<uint64_t>* open, uint32_t open_count,
                   const std::atomic<uint64_t>* works_since, Interval window, Use use) noexcept {
    // Open ones first: an interval that ends meanwhile is then seen twice, rather than never.
    for (uint32_t i = 0; i < open_count; ++i) {
      const uint64_t since = open[i].load(std::memory_order_acquire);
      const bool works = works_since && since & kMayWork && !works_since->load(std::memory_order_acquire);
      if (since && since < window.end && !works)
        use(Interval{since < window.begin ? window.begin : since, window.end});
    }
    const uint64_t count = over.count.load(std::memory_order_acquire);
    for (uint64_t i = 0; i < kKept && i < count; ++i) {
      const uint32_t at = static_cast<uint32_t>((count - 1 - i) % kKept);
      Interval interval{over.begins[at].load(std::memory_order_relaxed),
                        over.ends[at].load(std::memory_order_relaxed)};
      if (interval.end <= window.begin) break;  // they are roughly in the order of their ends
      if (interval.begin < window.begin) interval.begin = window.begin;
      if (interval.end > window.end) interval.end = window.end;
      if (interval.begin < interval.end) use(interval);
    }
  }

  Slot& slot(uint32_t i) noexcept;
  bool is_others(uint32_t i) noexcept;
  bool claim() noexcept;
  void reap() noexcept;

  File* file_ = nullptr;
  uint32_t own_ = 0;
  uint64_t owner_ = 0;
  uint64_t seen_changes_ = 0;
  char path_[192] = {};
};

}  // namespace hpcrun
