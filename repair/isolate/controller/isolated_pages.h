#pragma once
// The list of pages that are to be private in converted threads. It lies in common memory. The
// controller changes it, and each converted thread follows the changes when it next checks. Any thread may
// remove pages. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "repair/isolate/pages/own_pages.h"

namespace hpcrun {

class IsolatedPages {
 public:
  // For the controller. Returns false if there is no room.
  bool add(uint64_t page) noexcept;
  void remove(uint64_t page) noexcept;
  void clear() noexcept;
  // Makes this page common in all converted threads until the next call. 0: no page is paused.
  void pause(uint64_t page) noexcept;
  // While held, no converted thread has any page.
  void hold(bool is_held) noexcept;
  // Converted threads that began less than `ns` nanoseconds ago have no page.
  void watch_converted_threads_for(uint64_t ns) noexcept { watch_ns_.store(ns); }
  uint64_t watch_ns() const noexcept { return watch_ns_.load(); }
  uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // Records that a thread, by a number from 1 on, changed something on the page.
  void note_writer(uint64_t page, uint32_t writer) noexcept;
  // True if several threads did since it was added to the list.
  bool has_several_writers(uint64_t page) const noexcept;

  // Called by a converted thread to make its pages those of the list. Pages that it was refused, or must not
  // have, stay common.
  void follow(PrivatePages& own, uint32_t& followed) const noexcept;

 private:
  // Returns kMaxPrivatePages if the page is not on the list.
  uint32_t place_of(uint64_t page) const noexcept;

  std::atomic<uint64_t> pages_[kMaxPrivatePages] = {};    // 0: none
  std::atomic<uint32_t> writers_[kMaxPrivatePages] = {};  // the first writer of each; 0: none yet
  std::atomic<bool> has_several_[kMaxPrivatePages] = {};
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> changes_{1};
  std::atomic<uint64_t> paused_{0};
  std::atomic<bool> is_held_{false};
  std::atomic<uint64_t> watch_ns_{0};
};

}  // namespace hpcrun
