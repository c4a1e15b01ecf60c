#include "viewer/window/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "analysis/views/tree/selection.h"
#include "analysis/words/numbers.h"
#include "viewer/document/traces.h"

namespace prof::viewer {

namespace {

TimeRange range_of(Document& document, const std::string& text) {
  const Seconds time = *time_of(text);
  const MappedTraces& traces = document.traces().mapped();
  if (traces.all_segments() == 0)
    throw std::runtime_error("--time needs traces; measure the program with `prof run --trace`");
  constexpr double kNsPerSecond = 1e9;
  const auto ns = [](double seconds) { return static_cast<uint64_t>(std::llround(seconds * kNsPerSecond)); };
  if (traces.begin_ns() + ns(time.begin) >= traces.end_ns())
    throw std::runtime_error(fmt::format(
        "--time {}: the traces cover only {}", text,
        format_duration(static_cast<double>(traces.end_ns() - traces.begin_ns()) / kNsPerSecond)));
  return {traces.begin_ns() + ns(time.begin), std::min(traces.begin_ns() + ns(time.end), traces.end_ns())};
}

// Called before a time is selected, because that has metrics of its own.
void choose_metric(Document& document, const std::string& name) {
  if (name.empty()) return;
  const uint32_t metric = select(*document.tree().database, {name}, {}).metrics.front();
  const std::vector<uint32_t>& shown = document.tree().selection.metrics;
  const auto at = std::find(shown.begin(), shown.end(), metric);
  if (at != shown.end()) return document.choose_metric(static_cast<size_t>(at - shown.begin()));
  throw SelectionError(SelectionFailure::UnknownMetric,
                       name + " is zero everywhere, so it cannot be shown; select another metric");
}

}  // namespace

void choose(Document& document, const ViewOptions& options) {
  if (!options.threads.empty())
    document.choose_threads(select(document.database(), {}, options.threads).profiles);
  if (options.depth >= 0) document.choose_depth(static_cast<uint32_t>(options.depth));
  choose_metric(document, options.metric);
  if (options.time.empty()) return;
  const TimeRange time = range_of(document, options.time);
  document.show_time(time);
  document.choose_time(time);
}

void choose_function(Document& document, const ViewOptions& options) {
  if (options.function.empty()) return;
  const CallTree& tree = document.tree();
  const auto is_named = [&](const Frame& frame) {
    return frame_name(*tree.database, frame) == options.function;
  };
  if (std::ranges::none_of(tree.frames, is_named))
    throw std::runtime_error("--function " + options.function +
                             ": no such function in the run; `prof report --view=flat` lists the names");
  document.ask_for_function(options.function);
}

}  // namespace prof::viewer
