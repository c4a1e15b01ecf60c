#include "repair/isolate/controller_state.h"

#include "repair/isolate/twin.h"
#include "repair/isolate/twin_pages.h"

namespace hpcrun {

constinit Controller controller;

void sum_up(IsolationTotals& totals) noexcept {
  const TwinCounts& counts = twin_counts();
  totals.conversions = counts.conversions;
  totals.conversion_ns = counts.conversion_ns;
  totals.longest_conversion_ns = counts.longest_conversion_ns;
  totals.twins_cpu_ns = cpu_ns_of_twins();
  totals.is_over = nobody_has_pages;
  totals.was_annotated = controller.was_annotated;
  totals.was_plain = controller.was_plain;
  totals.isolated_pace = controller.isolated_pace;
  totals.common_pace = controller.common_pace;
  uint64_t ticks = 0;
  for_each_pages([&](const PrivatePages& pages) {
    totals.commits += pages.commits();
    totals.meetings += pages.meetings();
    totals.merged_words += pages.merged();
    ticks += pages.timed_ticks();
  });
  totals.commit_ns = controller.ns_of(ticks * PrivatePages::kTimed);
}

}  // namespace hpcrun
