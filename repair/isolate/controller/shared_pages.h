#pragma once
// Finds the pages that several threads write to at the same time (page ownership, SHERIFF, sections 4.1 and
// 4.7), among the program's variables and allocations:
//
// 1. A converted thread begins without page tables for memory that is common: the kernel's list of those that
// it has
//    (pagemap, proc(5)) says what it touched. A page that two converted threads touched may be written by
//    both; it may be only read, or lie beside one that is, for the kernel maps neighbours of what is read.
// 2. Such a page is isolated for kTurns periods. If several threads changed something on it by then, it stays
//    isolated, and what they change is counted (hpcrun/model/written_line.h); if not, another has its turn.
//
// Pages are looked for in the first kSampled of kPeriods periods in which several threads worked (SHERIFF's
// figures): for what costs much is shared often. No memory is protected, so that no system call of the
// program meets a page that it cannot write to.
//
// For the controller's thread, but for offer(), which is async-signal-safe.

#include <atomic>
#include <cstdint>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

class SharedPages {
 public:
  static constexpr uint64_t kPeriods = 1000, kSampled = 50;
  static constexpr uint32_t kTurns = 20;

  // The program allocated there: such pages come into question besides its variables.
  void offer(uint64_t low, uint64_t high) noexcept;

  // A period of kCommitNs is over; `in_session`: threads could be converted threads, `working`: so many of
  // them worked.
  void count_period(bool in_session, uint32_t working) noexcept;

  // Threads are to be converted threads although no page is isolated.
  bool is_looking() const noexcept { return period_ % kPeriods < kSampled; }
  // And anew: what they touched before is of the past.
  // Once each time.
  bool begins_to_look() noexcept {
    if (!is_looking() || begun_at_ == period_ / kPeriods) return false;
    begun_at_ = period_ / kPeriods;
    return begun_at_ > 0;
  }

  // Asks for pages (known_pages.h), and gives those back that had their turn.
  void look() noexcept;

 private:
  static constexpr uint32_t kMostConvertedThreads = 64;  // that are looked at
  static constexpr uint64_t kMostPages = 16 * 1024;  // that are looked at in one period

  void open_converted_threads() noexcept;
  void close_converted_threads() noexcept;
  void look_at(uint64_t low, uint64_t high, bool is_allocation) noexcept;
  void look_at_part(uint64_t low, uint32_t count, bool is_allocation) noexcept;
  bool is_done() const noexcept { return free_ == 0 || left_ == 0; }

  std::atomic<uint64_t> offered_low_{~uint64_t{0}};
  std::atomic<uint64_t> offered_high_{0};
  uint64_t period_ = 0;
  uint64_t begun_at_ = 0;  // of the times at which pages are looked for
  uint64_t begin_at_ = 0;  // pages in question before the next one to be looked at
  uint64_t passed_ = 0;    // the same of this look
  uint64_t left_ = 0;      // pages to be looked at in this one
  uint32_t free_ = 0;      // turns
  int converted_threads_[kMostConvertedThreads] = {};
  uint32_t converted_thread_count_ = 0;
};

}  // namespace hpcrun
