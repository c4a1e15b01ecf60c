#include "analysis/views/run/format_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr size_t kThreadsNamed = 4;
// Thresholds for reporting that threads waited for a processor: of the CPU time, and in seconds.
constexpr double kWorthTelling = 0.05, kMinRunQueue = 0.01;

std::string name_of_signal(int number) {
  const char* const name = sigabbrev_np(number);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", number);
}

}  // namespace

std::string format_ending(const RunSummary& run) {
  std::string text;
  if (run.signal) text = ", killed by " + name_of_signal(static_cast<int>(*run.signal));
  if (run.exit_status) text += fmt::format(", exit status {}", *run.exit_status);
  return text;
}

std::string format_ran(const RunSummary& run) {
  std::string text;
  if (run.wall_s) text += format_duration(*run.wall_s) + ", ";
  if (run.cpu_s) text += format_duration(*run.cpu_s) + " of CPU time, ";
  if (run.run_queue_s && *run.run_queue_s >= kWorthTelling * run.cpu_s.value_or(0) &&
      *run.run_queue_s >= kMinRunQueue)
    text += format_duration(*run.run_queue_s) + " waiting for a processor, ";
  if (run.processes > 0) text += format_count(run.processes, "process") + ", ";
  text += format_count(run.threads, "thread");
  if (run.ranks > 0) text += ", " + format_count(run.ranks, "rank");
  if (!run.host.empty()) text += " on " + run.host;
  return text;
}

std::string format_selected(const CallTree& tree) {
  const Selection& selection = tree.selection;
  const Database& database = *tree.database;
  std::vector<std::string> names;
  if (selection.metrics != select(database, {}, {}).metrics)
    for (const uint32_t metric : selection.metrics) names.push_back(database.metrics[metric].name);
  if (!selection.every_profile) {
    names.push_back(
        fmt::format("{} of {}", selection.profiles.size(), format_count(database.profiles.size(), "thread")));
    for (size_t i = 0; i < std::min(kThreadsNamed, selection.profiles.size()); ++i)
      names.back() += (i == 0 ? ": " : ", ") + thread_label(database, selection.profiles[i]);
    if (selection.profiles.size() > kThreadsNamed) names.back() += ", ...";
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string format_sampled(const CallTree& tree, const RunSummary& run) {
  const Sampling sampling = shown_sampling(tree, run);
  std::string text;
  // The runtime samples more often than requested if there is a second thread, and while it searches for
  // contention (hpcrun/sample/search_clock.h).
  constexpr double kClearlyMore = 1.1;
  if (sampling.delivered_hz && sampling.requested_hz &&
      *sampling.delivered_hz > kClearlyMore * *sampling.requested_hz)
    text = fmt::format("{:.0f} samples/s ({:.0f} requested)", *sampling.delivered_hz, *sampling.requested_hz);
  else if (sampling.delivered_hz && sampling.requested_hz)
    text = fmt::format("{:.0f} of {:.0f} samples/s", *sampling.delivered_hz, *sampling.requested_hz);
  else if (sampling.delivered_hz)
    text = fmt::format("{:.0f} samples/s", *sampling.delivered_hz);
  else if (sampling.requested_hz)
    text = fmt::format("{:.0f} samples/s requested", *sampling.requested_hz);
  if (sampling.samples) text += (text.empty() ? "" : ", ") + format_count(*sampling.samples, "sample");
  if (!sampling.source.empty()) text += (text.empty() ? "by " : ", by ") + sampling.source;
  const bool several = run.by_metric.size() > 1 && tree.metrics() > 0 && !text.empty();
  return several ? tree.metric(0).name + ": " + text : text;
}

std::string format_paused(const RunSummary& run) {
  return run.paused_s ? format_duration(*run.paused_s) + ", excluded from the measurement" : "";
}

std::string format_dropped(const RunSummary& run) {
  return run.dropped_samples() > 0 ? format_count(run.dropped_samples(), "sample") : "";
}

std::string format_stacks(const RunSummary& run) {
  if (!run.stacks || run.stacks->all() == 0) return {};
  const auto all = static_cast<double>(run.stacks->all());
  const auto percent = [&](uint64_t n) { return format_percent(static_cast<double>(n) / all); };
  std::string text = percent(run.stacks->complete) + " complete";
  if (run.stacks->partial > 0) text += ", " + percent(run.stacks->partial) + " partial";
  if (run.stacks->broken > 0) text += ", " + percent(run.stacks->broken) + " broken";
  return text;
}

std::string format_reasons(const Reasons& reasons, size_t limit) {
  std::vector<std::string> named;
  for (const auto& [reason, count] : by_count(reasons)) {
    const std::string why = format_reason(reason).why;
    if (!why.empty() && named.size() < limit) named.push_back(fmt::format("{} because {}", count, why));
  }
  return named.empty() ? "" : fmt::format(": {}", fmt::join(named, ", "));
}

constexpr double kWorthNaming = 0.1;  // of the overhead

std::string format_overhead(const RunSummary& run) {
  std::string text;
  if (run.overhead_cpu_s) {
    text = "about " + format_duration(*run.overhead_cpu_s) + " of CPU time";
    if (run.cpu_s && *run.cpu_s > 0)
      text += fmt::format(" ({})", format_percent(*run.overhead_cpu_s / *run.cpu_s));
    if (run.overhead_hooks_s && *run.overhead_hooks_s > *run.overhead_cpu_s * kWorthNaming)
      text += ", " + format_duration(*run.overhead_hooks_s) + " of it in intercepted calls";
  }
  if (run.runtime_bytes)
    text += (text.empty() ? "" : ", ") + format_bytes(static_cast<double>(*run.runtime_bytes)) + " of memory";
  return text;
}

}  // namespace prof
