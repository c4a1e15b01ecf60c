#include "repair/isolate/controller/controller_state.h"

#include <algorithm>

#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

constinit Controller controller;

namespace {

// The totals of this process and of those that it was forked from, whose counts it inherits.
struct Sums {
  uint64_t conversions = 0, conversion_ns = 0, converted_cpu_ns = 0;
  uint64_t commits = 0, meetings = 0, merged_words = 0, ticks = 0;
};
constinit Sums inherited;

Sums sums_now() noexcept {
  const ConvertedThreadCounts& counts = converted_thread_counts();
  Sums sums{.conversions = counts.conversions,
            .conversion_ns = counts.conversion_ns,
            .converted_cpu_ns = cpu_ns_of_converted_threads()};
  for_each_pages([&sums](const PrivatePages& pages) {
    sums.commits += pages.commits();
    sums.meetings += pages.meetings();
    sums.merged_words += pages.merged();
    sums.ticks += pages.timed_ticks();
  });
  return sums;
}

}  // namespace

void sum_up(IsolationTotals& totals) noexcept {
  const Sums now = sums_now();
  const auto own = [&now](uint64_t Sums::*sum) { return now.*sum - std::min(now.*sum, inherited.*sum); };
  totals.conversions = own(&Sums::conversions);
  totals.conversion_ns = own(&Sums::conversion_ns);
  totals.longest_conversion_ns = converted_thread_counts().longest_conversion_ns;
  totals.converted_cpu_ns = own(&Sums::converted_cpu_ns);
  totals.commits = own(&Sums::commits);
  totals.meetings = own(&Sums::meetings);
  totals.merged_words = own(&Sums::merged_words);
  totals.commit_ns = controller.ns_of(own(&Sums::ticks) * PrivatePages::kTimed);
  totals.is_over = nobody_has_pages;
  totals.was_annotated = controller.was_annotated;
  totals.was_plain = controller.was_plain;
  totals.isolated_pace = controller.isolated_pace;
  totals.common_pace = controller.common_pace;
}

void begin_sums_of_child() noexcept {
  inherited = sums_now();
  converted_thread_counts().longest_conversion_ns.store(0);
}

}  // namespace hpcrun
