#pragma once
// How many calls of the allocator a thread reports to the runtime until its next sample. A call that is
// reported costs some 80 ns, one that is only looked up (frequent_calls.h) some 5 ns, and a program may make
// tens of millions a second. Once a thread has used up its budget, its calls go to the allocator by one
// comparison and a jump.
//
// Each thread has a line of its own, found by its thread pointer: no line is written by two threads, unless
// their pointers have the same hash, and then they share a budget. Without locks; async-signal-safe. Zeroed
// memory is a valid one that reports nothing.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// Calls from one sample to the next.
struct CallAllowance {
  int32_t reports;         // of small allocations
  int32_t middle_reports;  // of those from kSmallBytes on
  int32_t lookups;         // of small allocations that are passed over by where they are made
};

class alignas(64) CallBudget {
 public:
  static constexpr uint64_t kSmallBytes = 16'384;
  // Larger ones are fewer, and each of them is more likely to be what threads share later: more of them are
  // reported, wherever they are made, so that the small ones do not use up their share. From kLargeBytes on,
  // where the C library maps each anew, each is reported.
  static constexpr uint64_t kLargeBytes = 131'072;

  // What most calls look at, and nothing else.
  bool is_unheard(uint64_t bytes) const noexcept { return bytes < ~heard_.load(std::memory_order_relaxed); }

  bool has_reports(uint64_t bytes) const noexcept {
    return (bytes < kSmallBytes ? reports_ : middle_reports_).load(std::memory_order_relaxed) > 0;
  }
  bool has_half_of(int32_t reports) const noexcept {
    return reports_.load(std::memory_order_relaxed) > reports / 2;
  }

  // Both return true if this was the last one. The calling thread's own budget.
  bool report(uint64_t bytes) noexcept { return spend(bytes < kSmallBytes ? reports_ : middle_reports_); }
  bool look_up() noexcept { return spend(lookups_); }

  // Passes over the calls for which nothing is left, without a look at where they are made.
  void rest() noexcept {
    if (is_left(reports_) && is_left(lookups_)) return;
    heard_.store(~(is_left(middle_reports_) ? kSmallBytes : kLargeBytes), std::memory_order_relaxed);
  }

  // What is left of the time before is not saved up.
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

  std::atomic<uint64_t> heard_;  // calls for at least ~heard_ bytes are heard
  std::atomic<int32_t> reports_;
  std::atomic<int32_t> middle_reports_;
  std::atomic<int32_t> lookups_;
};

// Of all threads.
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
