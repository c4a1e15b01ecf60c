#pragma once
// Which calls of the allocator the runtime is not told of: those of a place that makes them over and over,
// and those for which the thread's budget (call_budget.h) has nothing left. The runtime counts,
// libprof-heap.so asks. Without locks; async-signal-safe. Zeroed memory is a valid one: before begin()
// nothing is reported.

#include <sys/single_threaded.h>

#include <atomic>
#include <bit>
#include <cstdint>

#include "hpcrun/heap/call_budget.h"
#include "hpcrun/heap/outer_calls.h"

namespace hpcrun {

enum class Reports : uint8_t {
  All,        // each call is reported, whatever it costs
  Searching,  // contention is searched for all the time
  AtNeed,     // in searches, which search() begins and ends; else calls that are not frequent
};

class FrequentCalls {
 public:
  // Calls of one place until it is frequent. Threads that allocate at the same time take what they count in
  // from each other: fewer are worth it.
  static constexpr uint32_t kOften = 1'000, kOftenWithThreads = 100;
  static constexpr uint64_t kSmallBytes = CallBudget::kSmallBytes, kLargeBytes = CallBudget::kLargeBytes;

  // At first, and with each sample. In a large program, which makes ever new calls, a report takes 4 us, with
  // the walk of the stack and what is pushed out of the caches (g++): with one thread, 4 ms at first, and
  // 0.04 % at 20 samples a second. With threads at rest 0.1 % at 50 samples a second; in searches, with 250,
  // 5 % where all is used up.
  static constexpr CallAllowance kAloneFirst{1'000, 500, 20'000}, kAlone{5, 20, 2'000};
  static constexpr CallAllowance kAtRestFirst{1'000, 500, 20'000}, kAtRest{100, 100, 2'000};
  static constexpr CallAllowance kSearchFirst{100'000, 50'000, 400'000}, kSearch{1'500, 500, 15'000};

  void begin(Reports reports) noexcept {
    for (std::atomic<uint64_t>& word : frequent_) word.store(0, std::memory_order_relaxed);
    for (std::atomic<uint16_t>& count : counts_) count.store(0, std::memory_order_relaxed);
    has_threads_.store(false, std::memory_order_relaxed);
    are_all_heard_.store(false, std::memory_order_relaxed);
    passed_over_.store(false, std::memory_order_relaxed);
    is_searched_.store(reports != Reports::AtNeed, std::memory_order_relaxed);
    reports_.store(reports, std::memory_order_relaxed);
    begin_budgets();
  }
  // The process has threads from now on. Returns false if it had them before; only the first call counts.
  // `is_searched`: as long as search() does not say otherwise.
  bool begin_threads(bool is_searched) noexcept {
    if (has_threads_.load(std::memory_order_relaxed)) return false;
    if (reports() == Reports::AtNeed) is_searched_.store(is_searched, std::memory_order_relaxed);
    has_threads_.store(true, std::memory_order_release);
    begin_budgets();
    return true;
  }
  // The calling thread is new: what is left of a budget is another thread's, which is gone.
  void begin_thread() noexcept { budgets_.here().begin(first_allowance()); }

  // A search for contention begins, or is over.
  void search(bool is_on) noexcept {
    if (reports() == Reports::AtNeed) is_searched_.store(is_on, std::memory_order_relaxed);
  }
  bool is_searched() const noexcept { return is_searched_.load(std::memory_order_relaxed); }
  // The runtime is to be asked about each call before it is made, also if it is passed over.
  void hear_all() noexcept {
    are_all_heard_.store(true, std::memory_order_relaxed);
    budgets_.for_each([](CallBudget& budget) noexcept { budget.hear(); });
  }

  // What most calls look at, and nothing else: the calling thread's calls for so few bytes are passed over.
  bool is_unheard(uint64_t bytes) const noexcept { return budgets_.here().is_unheard(bytes); }

  // Takes a look-up from the calling thread's budget if the place has to be looked up.
  bool passes_over(uint64_t bytes, const void* frame) noexcept {
    if (reports() == Reports::All || !counts(bytes)) return false;
    CallBudget& budget = budgets_.here();
    if (!budget.has_reports(bytes)) return true;
    if (bytes >= kSmallBytes) return false;
    // While contention is searched for frequent calls, too, may be for what threads share.
    if (is_searched() && budget.has_half_of(kSearch.reports)) return false;
    if (!is_frequent(bytes, frame)) return false;
    if (budget.look_up()) rest(budget);
    return true;
  }
  bool is_frequent(uint64_t bytes, const void* frame) const noexcept {
    return counts(bytes) && bytes < kSmallBytes && is_frequent_place(place_of(bytes, frame));
  }

  // A call of this size was reported, from this place of the program: by the innermost return addresses, and
  // how deep they are. Takes a report from the calling thread's budget.
  void count(uint64_t bytes, const void* frame) noexcept {
    if (!counts(bytes)) return;
    if (bytes < kSmallBytes) count_place(place_of(bytes, frame));
    if (CallBudget& budget = budgets_.here(); budget.report(bytes)) rest(budget);
  }
  // True if there is something left of the calling thread's budget for calls of this size: where each call is
  // reported, whether it is worth more than that.
  bool has_reports(uint64_t bytes) const noexcept {
    return !counts(bytes) || budgets_.here().has_reports(bytes);
  }
  // True if calls that a search should have were passed over because a thread's budget was used up.
  bool has_passed_over() const noexcept { return passed_over_.load(std::memory_order_relaxed); }

  // The calling thread was sampled.
  void renew() noexcept { budgets_.here().renew(allowance()); }

  void learn_outer(uint64_t caller, uint64_t distance) noexcept { outer_.learn(caller, distance); }

 private:
  static constexpr unsigned kCountBits = 12;
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;

  Reports reports() const noexcept { return reports_.load(std::memory_order_relaxed); }
  const CallAllowance& first_allowance() const noexcept {
    if (is_searched()) return kSearchFirst;
    return has_threads_.load(std::memory_order_relaxed) ? kAtRestFirst : kAloneFirst;
  }
  const CallAllowance& allowance() const noexcept {
    if (is_searched()) return kSearch;
    return has_threads_.load(std::memory_order_relaxed) ? kAtRest : kAlone;
  }
  void begin_budgets() noexcept {
    budgets_.for_each([this](CallBudget& budget) noexcept { budget.begin(first_allowance()); });
  }
  void rest(CallBudget& budget) noexcept {
    const bool is_at_rest = has_threads_.load(std::memory_order_relaxed) && !is_searched();
    if (!is_at_rest && !has_passed_over()) passed_over_.store(true, std::memory_order_relaxed);
    if (reports() != Reports::All && !are_all_heard_.load(std::memory_order_relaxed)) budget.rest();
  }
  // Of threads that count at the same time some may be lost.
  void count_place(uint32_t place) noexcept {
    if (is_frequent_place(place)) return;
    const auto count = static_cast<uint16_t>(counts_[place].load(std::memory_order_relaxed) + 1);
    counts_[place].store(count, std::memory_order_relaxed);
    if (count < (has_threads_.load(std::memory_order_relaxed) ? kOftenWithThreads : kOften)) return;
    frequent_[place / 64].fetch_or(uint64_t{1} << place % 64, std::memory_order_relaxed);
  }
  bool is_frequent_place(uint32_t place) const noexcept {
    return frequent_[place / 64].load(std::memory_order_relaxed) >> place % 64 & 1;
  }
  static bool counts(uint64_t bytes) noexcept { return bytes < kLargeBytes; }
  // By the return address, and that of the function that makes the call where it is known how far up it lies.
  // One multiplication: this is asked at each call that is looked up.
  uint32_t place_of(uint64_t bytes, const void* frame) const noexcept {
    const uint64_t caller = caller_at(frame), distance = outer_.distance_of(caller);
    uint64_t key = caller ^ reinterpret_cast<uint64_t>(frame) << 16 ^ bytes << 40;
    if (distance && OuterCalls::is_readable(frame, distance))
      key += std::rotl(word_above(frame, static_cast<int64_t>(distance)), 29);
    return static_cast<uint32_t>(key * kMix >> (64 - kCountBits));
  }

  CallBudgets budgets_;
  // Written rarely: each call that is looked up reads it.
  std::atomic<Reports> reports_;
  std::atomic<bool> has_threads_;
  std::atomic<bool> is_searched_;
  std::atomic<bool> are_all_heard_;
  std::atomic<bool> passed_over_;
  OuterCalls outer_;
  // Those that were counted kOften times, apart: asked at each call that is looked up, they are to stay in
  // the first level cache.
  std::atomic<uint64_t> frequent_[(1 << kCountBits) / 64];
  std::atomic<uint16_t> counts_[1 << kCountBits];
};

}  // namespace hpcrun
