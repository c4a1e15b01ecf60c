#include "analysis/findings/waiting.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/costs.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/views/tree/program_lines.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr double kMajorityOfTime = 0.5;  // of the time of the run; below, CPU time explains most of it
constexpr double kMinSeconds = 0.2;      // a shorter run is mostly its start
constexpr double kLineWorthNaming = 0.10;
constexpr char kCpuTime[] = "CPUTIME", kRealTime[] = "REALTIME";

size_t position_of(const CallTree& tree, const char* metric) {
  for (size_t m = 0; m < tree.metrics(); ++m)
    if (tree.metric(m).name == metric) return m;
  return tree.metrics();
}

// Returns the line of the program at which threads spent most of the elapsed time without a processor.
const ProgramLine* longest_wait(const std::vector<ProgramLine>& elapsed, const std::vector<ProgramLine>& used,
                                double& waited) {
  const ProgramLine* longest = nullptr;
  for (const ProgramLine& line : elapsed) {
    const auto same = std::ranges::find_if(used, [&](const ProgramLine& other) {
      return other.frame == line.frame && other.location == line.location;
    });
    const double seconds = line.cost - (same == used.end() ? 0 : same->cost);
    if (seconds <= waited) continue;
    waited = seconds;
    longest = &line;
  }
  return longest;
}

}  // namespace

std::vector<Finding> waiting_findings(const CallTree& tree, const RunSummary& run) {
  const size_t cpu_time = position_of(tree, kCpuTime), real_time = position_of(tree, kRealTime);
  const bool has_cpu_time = cpu_time < tree.metrics(), has_real_time = real_time < tree.metrics();
  const bool is_measured = has_cpu_time || (has_real_time && run.cpu_s);
  if (!is_measured || run.ranks > 1 || run.processes > 1 || !tree.selection.every_profile) return {};
  const double elapsed = run.program_s ? *run.program_s : run.wall_s.value_or(0);
  const double busy = has_cpu_time ? tree.totals[cpu_time] : *run.cpu_s;
  // Excludes threads that were ready without a processor, which the program cannot change, and threads that
  // waited for a device, which other findings report.
  double explained = run.run_queue_s.value_or(0);
  for (const DeviceUse& use : run.devices) explained += use.cpu_waits_s;
  const double waited = elapsed - busy - explained;
  if (elapsed < kMinSeconds || waited < elapsed * kMajorityOfTime) return {};

  Finding finding;
  finding.kind = FindingKind::Waiting;
  finding.metric = has_real_time ? kRealTime : kCpuTime;
  finding.severity = severity_of(waited / elapsed, 0.5, 0.8);
  finding.cost = FindingCost{waited, "sec", waited / elapsed,
                             "elapsed time less CPU time, time in the run queue and waits for devices"};
  finding.saving = at_most(waited, "elapsed time without a processor, if nothing had to be waited for");
  finding.values = {{"elapsed", elapsed}, {"cpu", busy}};
  finding.sentence = fmt::format("Waiting: for at least {} of its {} the program used no processor",
                                 format_percent(waited / elapsed), format_duration(elapsed));
  if (!has_real_time) {
    finding.advice =
        "measure with -e REALTIME to see where it waits, and with -e locks to see which threads hold it up";
    finding.sentence += fmt::format("; {}.", finding.advice);
    return {finding};
  }
  const auto lines_by = [&](const char* metric, CallTree& of) {
    of = build_call_tree(*tree.database, select(*tree.database, {metric}, {}), false);
    return program_lines(of, SIZE_MAX);
  };
  CallTree by_elapsed, by_used;
  const std::vector<ProgramLine> lines = lines_by(kRealTime, by_elapsed);
  const std::vector<ProgramLine> used =
      has_cpu_time ? lines_by(kCpuTime, by_used) : std::vector<ProgramLine>();
  double seconds = 0;
  const ProgramLine* longest = longest_wait(lines, used, seconds);
  if (longest != nullptr && by_elapsed.share(seconds, 0) >= kLineWorthNaming) {
    const CodeFrame frame = code_frame(by_elapsed, longest->frame, longest->location);
    finding.sentence += fmt::format(": {} of the elapsed time of its threads passed in {}",
                                    format_percent(by_elapsed.share(seconds, 0)), format_code({frame}));
    if (longest->call != kNone)
      finding.sentence +=
          ", which called " +
          format_function({{frame_name(*tree.database, by_elapsed.frames[longest->call]), "", "", 0}});
    finding.contexts.push_back({"waiting", {frame}});
  }
  finding.sentence += ".";
  return {finding};
}

}  // namespace prof
