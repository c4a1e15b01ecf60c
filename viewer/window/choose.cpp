#include "viewer/window/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analysis/views/selection.h"
#include "analysis/views/wording.h"
#include "viewer/document/traces.h"

namespace prof::viewer {

namespace {

TimeRange range_of(Document& document, const std::string& text) {
  const Seconds time = *time_of(text);
  const MappedTraces& traces = document.traces().mapped();
  if (traces.all_segments() == 0)
    throw std::runtime_error("--time needs traces: measure the program with `prof run --trace`");
  constexpr double kNsPerSecond = 1e9;
  const auto ns = [](double seconds) { return static_cast<uint64_t>(std::llround(seconds * kNsPerSecond)); };
  if (traces.begin_ns() + ns(time.begin) >= traces.end_ns())
    throw std::runtime_error(fmt::format(
        "--time {}: the run has traces of {} only", text,
        words_for_duration(static_cast<double>(traces.end_ns() - traces.begin_ns()) / kNsPerSecond)));
  return {traces.begin_ns() + ns(time.begin), std::min(traces.begin_ns() + ns(time.end), traces.end_ns())};
}

}  // namespace

void choose(Document& document, const ViewOptions& options) {
  if (!options.threads.empty())
    document.choose_threads(select(document.database(), {}, options.threads).profiles);
  if (!options.time.empty()) document.show_time(range_of(document, options.time));
  if (options.depth >= 0) document.choose_depth(static_cast<uint32_t>(options.depth));
  if (options.metric.empty()) return;
  const uint32_t metric = select(document.database(), {options.metric}, {}).metrics.front();
  const std::vector<uint32_t>& shown = document.tree().selection.metrics;
  const auto at = std::find(shown.begin(), shown.end(), metric);
  if (at != shown.end()) return document.choose_metric(static_cast<size_t>(at - shown.begin()));
  throw SelectionError(SelectionFailure::UnknownMetric,
                       options.metric + " is zero everywhere: there is nothing to show of it");
}

}  // namespace prof::viewer
