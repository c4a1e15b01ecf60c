#include "hpcrun/sample/search_clock.h"

#include <sys/single_threaded.h>

#include <algorithm>
#include <utility>

#include "hpcrun/sample/perf_event.h"
#include "hpcrun/sample/source_events.h"

namespace hpcrun {
namespace {

// The rate of the inherited event from the second thread on; 0: it has that rate.
uint32_t rate_of_several = 0;

constexpr uint32_t kLoneRate = 20;

void begin_lone_rate(uint32_t event) noexcept {
  uint32_t& rate = process_state.config.events[event].rate;
  if (!__libc_single_threaded || process_state.late.load() || rate <= kLoneRate) return;
  rate_of_several = rate;
  rate = kLoneRate;
  begin_whole_periods(process_state.inherited_descriptor, rate);
}

}  // namespace

void open_search_clock(uint32_t event, Source source) noexcept {
  const uint32_t often = process_state.config.search_rate;
  if (often <= process_state.config.events[event].rate) return;
  process_state.searches.store(false, std::memory_order_relaxed);
  if (source == Source::SigtrapAll) {
    PerfRequest request = clock_request(event, false);
    request.rate = often;
    const int descriptor = open_perf_event(request);
    if (descriptor >= 0) {
      process_state.search_descriptor = descriptor;
      return begin_lone_rate(event);
    }
  }
  sample_often_only(event);
  if (process_state.inherited_event == static_cast<int>(event))
    begin_whole_periods(process_state.inherited_descriptor, often);
}

void sample_often_only(uint32_t event) noexcept {
  uint32_t& rate = process_state.config.events[event].rate;
  rate = std::max(rate, process_state.config.search_rate);
  rate_of_several = 0;
  process_state.searches.store(false, std::memory_order_relaxed);
}

// Threads inherit the settings of the first thread's event.
void leave_lone_rate() noexcept {
  const uint32_t rate = std::exchange(rate_of_several, 0);
  if (!rate || process_state.inherited_descriptor == kNoDescriptor) return;
  process_state.config.events[process_state.inherited_event].rate = rate;
  if (ThreadState* const thread = this_thread())
    thread->events[process_state.inherited_event].had_lone_rate = true;
  begin_whole_periods(process_state.inherited_descriptor, rate);
}

void sample_often(bool often) noexcept {
  if (process_state.search_descriptor == kNoDescriptor) return;
  process_state.searches.store(often, std::memory_order_relaxed);
  if (often && !process_state.file.pause_switch().is_paused())
    enable_perf_event(process_state.search_descriptor);
  if (!often || process_state.file.pause_switch().is_paused())
    disable_perf_event(process_state.search_descriptor);
}

void rest_search_clock() noexcept {
  if (process_state.search_descriptor != kNoDescriptor &&
      !process_state.searches.load(std::memory_order_relaxed))
    disable_perf_event(process_state.search_descriptor);
}

}  // namespace hpcrun
