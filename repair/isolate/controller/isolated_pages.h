#pragma once
// The pages that converted threads are to have for themselves: one list, in common memory, that the
// controller changes and each converted thread follows when it comes to it. Anybody removes pages.
// Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "repair/isolate/pages/own_pages.h"

namespace hpcrun {

class IsolatedPages {
 public:
  // The controller's. False: there is no room.
  bool add(uint64_t page) noexcept;
  void remove(uint64_t page) noexcept;
  void clear() noexcept;
  // Until it is told otherwise no converted thread has this one; 0: all that there are may be had.
  void pause(uint64_t page) noexcept;
  // Until it is told otherwise no converted thread has any.
  void hold(bool is_held) noexcept;
  // Nor has one that began less than so many nanoseconds ago.
  void watch_converted_threads_for(uint64_t ns) noexcept { watch_ns_.store(ns); }
  uint64_t watch_ns() const noexcept { return watch_ns_.load(); }
  uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // A thread, by a number from 1 on, changed something on the page.
  void note_writer(uint64_t page, uint32_t writer) noexcept;
  // Whether several did since it is on the list.
  bool has_several_writers(uint64_t page) const noexcept;

  // A converted thread's: from now on its pages are those of the list. What it was refused, or must not have,
  // stays common.
  void follow(PrivatePages& own, uint32_t& followed) const noexcept;

 private:
  // kMaxPrivatePages: it is not there.
  uint32_t place_of(uint64_t page) const noexcept;

  std::atomic<uint64_t> pages_[kMaxPrivatePages] = {};    // 0: none
  std::atomic<uint32_t> writers_[kMaxPrivatePages] = {};  // the first one of each; 0: there was none
  std::atomic<bool> has_several_[kMaxPrivatePages] = {};
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> changes_{1};
  std::atomic<uint64_t> paused_{0};
  std::atomic<bool> is_held_{false};
  std::atomic<uint64_t> watch_ns_{0};
};

}  // namespace hpcrun
