#pragma once
// What the processes of one user that share a device tell each other: when each had something to do for the
// device, and when it waited for it (thesis, 2.6.5). A file in /dev/shm for each device, with a slot for each
// process; what a dead process left is put away by the next that looks. One user of an object at a time; not
// for handlers. Times are in ns of CLOCK_MONOTONIC, which all processes of a machine share.

#include <atomic>
#include <cstdint>

#include "hpcrun/model/blame.h"

namespace hpcrun {

// How their files begin: one for each device and user.
constexpr char kSharedDeviceFiles[] = "/dev/shm/prof-device-";

class SharedDevice {
 public:
  // Takes a slot. False: no /dev/shm, the file is not ours, or all slots are taken.
  bool join(const char* uuid) noexcept;
  // Gives it back; the last one removes the file.
  void leave() noexcept;
  // In a forked child: the slot is the parent's.
  void forget() noexcept { *this = SharedDevice{}; }
  bool joined() const noexcept { return file_ != nullptr; }

  // This process has something to do for the device since then, or nothing any more.
  void begin_work(uint64_t since) noexcept;
  void end_work(uint64_t until) noexcept;

  // A thread waits since then; or, where the call may work as well (`may_work`), as long as its process has
  // something to do for the device. The place is what end_wait() takes; kNoPlace: too many wait, the rest is
  // told when they end. Callable by several threads at once.
  static constexpr uint32_t kNoPlace = UINT32_MAX;
  uint32_t begin_wait(uint64_t since, bool may_work = false) noexcept;
  // By one thread at a time, or with an empty interval: the wait is taken back.
  void end_wait(uint32_t place, Interval wait) noexcept;

  // Has a process come or gone since this was asked last?
  bool changed() noexcept;

  // How many other processes use the device.
  uint32_t others() noexcept;

  // Calls use(interval) with what of the window others had something to do, or waited. Intervals of several
  // processes overlap.
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
  static constexpr uint32_t kKept = 256;  // intervals that are over, of each kind
  static constexpr uint32_t kOpenWaits = 16;
  static constexpr uint64_t kMayWork = 1;  // in the time of an open wait, which is even

  struct Ring {
    std::atomic<uint64_t> count;
    std::atomic<uint64_t> begins[kKept];
    std::atomic<uint64_t> ends[kKept];
    void push(Interval interval) noexcept;
  };
  struct Slot {
    std::atomic<uint64_t> owner;  // pid and the low half of its start time; 0: free
    std::atomic<uint64_t> names;  // in which namespace of pids
    std::atomic<uint64_t> works_since[1];
    std::atomic<uint64_t> waits_since[kOpenWaits];
    Ring work;
    Ring waits;
  };
  struct File;

  template <typename Use>
  static void read(const Ring& over, const std::atomic<uint64_t>* open, uint32_t open_count,
                   const std::atomic<uint64_t>* works_since, Interval window, Use use) noexcept {
    // First those under way: one that ends meanwhile is then seen twice rather than never.
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
      if (interval.end <= window.begin) break;  // they end in this order, as good as
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
