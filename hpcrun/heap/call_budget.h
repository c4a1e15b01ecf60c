#pragma once
// Limits how many calls of the allocator a thread reports to the runtime until its next sample. A reported
// call costs some 80 ns, and one that is only looked up (frequent_calls.h) some 5 ns; a program may make tens
// of millions per second. Once a thread has used up its budget, its calls reach the allocator by one
// comparison and a jump.
//
// Each thread has a cache line of its own, found by its thread pointer. Two threads whose pointers have the
// same hash share a budget. Free of locks and async-signal-safe. Zeroed memory is a valid object that reports
// nothing.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// Calls from one sample to the next.
struct CallAllowance {
  int32_t reports;         // of small allocations
  int32_t middle_reports;  // of allocations from kSmallBytes on
  int32_t lookups;         // of small allocations that are passed over because of their call site
};

class alignas(64) CallBudget {
 public:
  static constexpr uint64_t kSmallBytes = 16'384;
  // Larger allocations are fewer, and threads are more likely to share them. They have a budget of their own,
  // whatever their call site, so that small ones do not use it up. From kLargeBytes on, where the C library
  // maps each allocation separately, all are reported.
  static constexpr uint64_t kLargeBytes = 131'072;

  // Returns true if a call for so many bytes is passed over. The only check that most calls make.
  bool is_unheard(uint64_t bytes) const noexcept { return bytes < ~heard_.load(std::memory_order_relaxed); }

  bool has_reports(uint64_t bytes) const noexcept {
    return (bytes < kSmallBytes ? reports_ : middle_reports_).load(std::memory_order_relaxed) > 0;
  }
  bool has_half_of(int32_t reports) const noexcept {
    return reports_.load(std::memory_order_relaxed) > reports / 2;
  }

  // Take one report or look-up from the calling thread's own budget. Return true if it was the last one.
  bool report(uint64_t bytes) noexcept { return spend(bytes < kSmallBytes ? reports_ : middle_reports_); }
  bool look_up() noexcept { return spend(lookups_); }

  // Passes over calls for which no budget is left, whatever their call site.
  void rest() noexcept {
    if (is_left(reports_) && is_left(lookups_)) return;
    heard_.store(~(is_left(middle_reports_) ? kSmallBytes : kLargeBytes), std::memory_order_relaxed);
  }

  // Refills the budget. What is left from before is not added.
  void renew(const CallAllowance& allowance) noexcept {
    raise(reports_, allowance.reports);
    raise(middle_reports_, allowance.middle_reports);
    raise(lookups_, allowance.lookups);
    hear();
  }
  void begin(const CallAllowance& allowance) noexcept {
    reports_.store(allowance.reports, std::memory_order_relaxed);
    middle_reports_.store(allowance.middle_reports, std::memory_order_relaxed);
    lookups_.store(allowance.lookups, std::memory_order_relaxed);
    hear();
  }
  void hear() noexcept { heard_.store(UINT64_MAX, std::memory_order_relaxed); }

 private:
  static bool is_left(const std::atomic<int32_t>& count) noexcept {
    return count.load(std::memory_order_relaxed) > 0;
  }
  static bool spend(std::atomic<int32_t>& count) noexcept {
    const int32_t left = count.load(std::memory_order_relaxed) - 1;
    if (left >= 0) count.store(left, std::memory_order_relaxed);
    return left <= 0;
  }
  static void raise(std::atomic<int32_t>& count, int32_t least) noexcept {
    if (count.load(std::memory_order_relaxed) < least) count.store(least, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> heard_;  // calls for at least ~heard_ bytes are not passed over
  std::atomic<int32_t> reports_;
  std::atomic<int32_t> middle_reports_;
  std::atomic<int32_t> lookups_;
};

// The budgets of all threads.
class CallBudgets {
 public:
  static constexpr unsigned kBits = 8;

  CallBudget& here() noexcept { return budgets_[place_here()]; }
  const CallBudget& here() const noexcept { return budgets_[place_here()]; }

  template <typename Use>
  void for_each(Use use) noexcept {
    for (CallBudget& budget : budgets_) use(budget);
  }

 private:
  static uint64_t place_here() noexcept {
    return reinterpret_cast<uint64_t>(__builtin_thread_pointer()) * 0x9e3779b97f4a7c15u >> (64 - kBits);
  }

  CallBudget budgets_[1 << kBits];
};

}  // namespace hpcrun
