#include "analysis/views/run/stall_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/words/numbers.h"
#include "hpcrun/measurement/format.h"

namespace prof {
namespace {

constexpr char kClock[] = "REALTIME";  // the one that goes on while a thread is blocked
constexpr double kWorthANote = 0.01;   // of the run

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// The limits of the traces.
std::vector<std::string> notes_on(const StallReport& report, const RunSummary& run) {
  const StallAnalysis& found = report.analysis;
  std::vector<std::string> notes;
  const double percent = report.options.share * 100;
  if (found.traces > 0 && 100.0 / found.traces >= percent) {
    notes.push_back(
        fmt::format("One of {} is {} of them, which is not below {:g} %: no stall can be found; raise the "
                    "limit with --stall-share.",
                    format_count(found.traces, "thread"), format_percent(1.0 / found.traces), percent));
  }
  if (report.share_of_run(found.unknown_ns) >= kWorthANote) {
    notes.push_back(fmt::format(
        "For {} more a thread was blocked while others waited, but the state of some threads is unknown: "
        "samples were lost, the measurement was paused, or they had no processor.",
        format_duration(seconds(found.unknown_ns))));
  }
  std::ranges::move(sentences(run.notes, hpcrun::NoteKind::Traces), std::back_inserter(notes));
  return notes;
}

}  // namespace

std::optional<std::string> reason_no_stalls(const CallTree& tree) {
  const Database& database = *tree.database;
  if (std::ranges::none_of(tree.selection.profiles,
                           [&](uint32_t profile) { return has_thread_trace(database, profile); }))
    return "stalls are found in traces, and no trace was recorded; measure with prof run --trace -e REALTIME";
  const auto clock = std::ranges::find(database.metrics, kClock, &Metric::name);
  // In prof's own runs the trace follows the first event. Other profilers do not record that.
  if (clock == database.metrics.begin() || (clock != database.metrics.end() && !database.run))
    return std::nullopt;
  return fmt::format(
      "the traces follow {}, which does not advance while a thread is blocked; measure with prof run --trace "
      "-e REALTIME{}",
      database.metrics.empty() ? "nothing" : database.metrics.front().name,
      clock == database.metrics.end() ? "" : ", named before other events");
}

double StallReport::share_of_run(uint64_t ns) const {
  return analysis.duration_ns() == 0 ? 0 : seconds(ns) / seconds(analysis.duration_ns());
}

StallReport stall_report(const CallTree& tree, const RunSummary& run, StallOptions options) {
  const auto clock = run.by_metric.find(kClock);
  if (clock != run.by_metric.end() && clock->second.requested_hz && *clock->second.requested_hz > 0)
    options.period_ns = static_cast<uint64_t>(std::llround(1e9 / *clock->second.requested_hz));
  StallReport report;
  report.options = std::move(options);
  report.analysis = find_stalls(*tree.database, tree.selection.profiles, report.options);
  report.notes = notes_on(report, run);
  return report;
}

std::string format_stalls(const StallReport& report) {
  const StallAnalysis& found = report.analysis;
  const std::string run = format_duration(seconds(found.duration_ns()));
  if (found.stalls.empty()) {
    if (found.long_intervals == 0) return fmt::format("none in {}: no thread was blocked for long", run);
    return fmt::format("none in {}: threads were blocked {}, up to {}, but not all others waited for them",
                       run, format_count(found.long_intervals, "time"),
                       format_duration(seconds(found.longest_ns)));
  }
  return fmt::format("{} ({} of {}) lost in {}, while all other threads waited in a barrier",
                     format_duration(seconds(found.lost_ns)),
                     format_percent(report.share_of_run(found.lost_ns)), run,
                     format_count(found.stalls.size(), "stall"));
}

std::string format_traces(const StallReport& report) {
  std::string text = format_count(report.analysis.traces, "thread") + ", by elapsed time (REALTIME)";
  if (report.options.period_ns > 0)
    text += fmt::format(", one sample every {}", format_duration(seconds(report.options.period_ns)));
  if (report.analysis.bystanders > 0)
    text += fmt::format("; {} excluded: never waited for in a barrier",
                        format_count(report.analysis.bystanders, "more thread"));
  return text;
}

std::string format_stall_rule(const StallOptions& options) {
  return fmt::format(
      "blocked: no sample for more than {:g} times the thread's median; fewer than {:g} % of the threads "
      "at a time",
      options.factor, options.share * 100);
}

}  // namespace prof
