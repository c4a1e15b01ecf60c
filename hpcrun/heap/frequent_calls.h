#pragma once
// Decides which calls of the allocator are not reported to the runtime: those from a call site that makes
// them frequently, and those for which the thread's budget (call_budget.h) is used up. The runtime counts
// calls, and libprof-heap.so asks. Free of locks and async-signal-safe. Zeroed memory is a valid object:
// nothing is reported before begin().

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
  AtNeed,  // as Searching between search(true) and search(false); otherwise only calls that are not frequent
};

class FrequentCalls {
 public:
  // Number of calls after which a call site is frequent. Lower with threads, which take the cache lines with
  // these counts from each other.
  static constexpr uint32_t kOften = 1'000, kOftenWithThreads = 100;
  static constexpr uint64_t kSmallBytes = CallBudget::kSmallBytes, kLargeBytes = CallBudget::kLargeBytes;

  // Allowances at the start, and with each sample. In a large program with ever new calls (g++), a report
  // takes 4 us, including the walk of the stack and the data evicted from the caches. So one thread pays 4 ms
  // at the start, and 0.04 % at 20 samples per second. Threads pay 0.1 % at 50 samples per second at rest,
  // and at most 5 % at 250 in a search.
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
  // Must be called when the process gets a second thread. Returns false, without effect, if it was called
  // before. `is_searched` holds until the first search().
  bool begin_threads(bool is_searched) noexcept {
    if (has_threads_.load(std::memory_order_relaxed)) return false;
    if (reports() == Reports::AtNeed) is_searched_.store(is_searched, std::memory_order_relaxed);
    has_threads_.store(true, std::memory_order_release);
    begin_budgets();
    return true;
  }
  // Fills the budget of the calling thread, which is new: it may be left over from a thread that ended.
  void begin_thread() noexcept { budgets_.here().begin(first_allowance()); }

  // Must be called when a search for contention begins or ends.
  void search(bool is_on) noexcept {
    if (reports() == Reports::AtNeed) is_searched_.store(is_on, std::memory_order_relaxed);
  }
  bool is_searched() const noexcept { return is_searched_.load(std::memory_order_relaxed); }
  // From now on, no call is passed over unseen: the runtime is asked before each one.
  void hear_all() noexcept {
    are_all_heard_.store(true, std::memory_order_relaxed);
    budgets_.for_each([](CallBudget& budget) noexcept { budget.hear(); });
  }

  // Returns true if calls of the calling thread for so few bytes are passed over. The only check that most
  // calls make.
  bool is_unheard(uint64_t bytes) const noexcept { return budgets_.here().is_unheard(bytes); }

  // Returns true if the call is not reported. Takes a look-up from the calling thread's budget if the call
  // site must be looked up.
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

  // Counts a reported call of this size from this call site, which is given by the innermost return addresses
  // and the stack depth. Takes a report from the calling thread's budget.
  void count(uint64_t bytes, const void* frame) noexcept {
    if (!counts(bytes)) return;
    if (bytes < kSmallBytes) count_place(place_of(bytes, frame));
    if (CallBudget& budget = budgets_.here(); budget.report(bytes)) rest(budget);
  }
  // Returns true if the calling thread's budget has reports left for calls of this size.
  bool has_reports(uint64_t bytes) const noexcept {
    return !counts(bytes) || budgets_.here().has_reports(bytes);
  }
  // Returns true if calls were passed over during a search because a thread's budget was used up.
  bool has_passed_over() const noexcept { return passed_over_.load(std::memory_order_relaxed); }

  // Refills the budget of the calling thread, which was sampled.
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
  // May lose counts of threads that count at the same time.
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
  // Returns the place of a call site: by the return address, and by that of its caller if its distance is
  // known. Needs only one multiplication, because each look-up calls it.
  uint32_t place_of(uint64_t bytes, const void* frame) const noexcept {
    const uint64_t caller = caller_at(frame), distance = outer_.distance_of(caller);
    uint64_t key = caller ^ reinterpret_cast<uint64_t>(frame) << 16 ^ bytes << 40;
    if (distance && OuterCalls::is_readable(frame, distance))
      key += std::rotl(word_above(frame, static_cast<int64_t>(distance)), 29);
    return static_cast<uint32_t>(key * kMix >> (64 - kCountBits));
  }

  CallBudgets budgets_;
  // Written rarely, and read by each look-up.
  std::atomic<Reports> reports_;
  std::atomic<bool> has_threads_;
  std::atomic<bool> is_searched_;
  std::atomic<bool> are_all_heard_;
  std::atomic<bool> passed_over_;
  OuterCalls outer_;
  // Bits of call sites that were counted kOften times. Separate, so that what each look-up reads stays in the
  // first-level cache.
  std::atomic<uint64_t> frequent_[(1 << kCountBits) / 64];
  std::atomic<uint16_t> counts_[1 << kCountBits];
};

}  // namespace hpcrun
