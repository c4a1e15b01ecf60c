#pragma once
// Finds pages that several threads write at the same time (page ownership, SHERIFF, sections 4.1 and 4.7),
// among the program's variables and allocations:
//
// 1. A converted thread begins without page tables for common memory, so the kernel's list of those that it
//    has (pagemap, proc(5)) shows what it touched. Two converted threads may both write a page that both
//    touched. They may also only read it, or touch its neighbours, which the kernel maps along with what is
//    read.
// 2. Such a page is isolated for kTurns periods. If several threads have changed something on it by then, it
//    stays isolated, and their changes are counted (hpcrun/model/written_line.h). If not, another page has
//    its turn.
//
// Pages are searched in the first kSampled of kPeriods periods in which several threads worked (SHERIFF's
// figures), because costly sharing is frequent. No memory is protected, so no system call of the program
// fails at a page that it cannot write.
//
// For the controller's thread, except offer(), which is async-signal-safe.

#include <atomic>
#include <cstdint>

#include "repair/isolate/pages/private_pages.h"

namespace hpcrun {

class SharedPages {
 public:
  static constexpr uint64_t kPeriods = 1000, kSampled = 50;
  static constexpr uint32_t kTurns = 20;

  // Records that the program allocated there: such pages are considered besides its variables.
  void offer(uint64_t low, uint64_t high) noexcept;

  // Called after each period of kCommitNs. `in_session`: threads could be converted. `working`: the number of
  // them that worked.
  void count_period(bool in_session, uint32_t working) noexcept;

  // True if threads are to be converted although no page is isolated.
  bool is_looking() const noexcept { return period_ % kPeriods < kSampled; }
  // True once each time that a search begins: threads are then converted anew, because what they touched
  // before is out of date.
  bool begins_to_look() noexcept {
    if (!is_looking() || begun_at_ == period_ / kPeriods) return false;
    begun_at_ = period_ / kPeriods;
    return begun_at_ > 0;
  }

  // Requests pages (known_pages.h), and makes those common again that had their turn.
  void look() noexcept;

 private:
  static constexpr uint32_t kMaxConvertedThreads = 64;  // the number that is checked
  static constexpr uint64_t kMaxPages = 16 * 1024;      // the number that is checked in one period

  void open_converted_threads() noexcept;
  void close_converted_threads() noexcept;
  void look_at(uint64_t low, uint64_t high, bool is_allocation) noexcept;
  void look_at_part(uint64_t low, uint32_t count, bool is_allocation) noexcept;
  bool is_done() const noexcept { return free_ == 0 || left_ == 0; }

  std::atomic<uint64_t> offered_low_{~uint64_t{0}};
  std::atomic<uint64_t> offered_high_{0};
  uint64_t period_ = 0;
  uint64_t begun_at_ = 0;  // the latest search
  uint64_t begin_at_ = 0;  // pages considered before the next one to check
  uint64_t passed_ = 0;    // the same for the current pass
  uint64_t left_ = 0;      // pages that this pass still checks
  uint32_t free_ = 0;      // turns
  int converted_threads_[kMaxConvertedThreads] = {};
  uint32_t converted_thread_count_ = 0;
};

}  // namespace hpcrun
