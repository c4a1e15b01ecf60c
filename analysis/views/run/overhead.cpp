#include "analysis/views/run/overhead.h"

#include "analysis/attribution/own_runtime.h"

namespace prof {
namespace {

// CPU seconds in code of the runtime's libraries.
double seconds_in_runtime(const CallTree& tree, size_t metric) {
  const auto& modules = tree.database->modules;
  std::vector<bool> is_own(modules.size());
  for (size_t m = 0; m < modules.size(); ++m) is_own[m] = is_own_runtime(modules[m].path);
  double seconds = 0;
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const uint32_t module = tree.frames[tree.nodes[n].frame].module;
    if (module < modules.size() && is_own[module]) seconds += tree.cost(n, metric).exclusive;
  }
  return seconds;
}

}  // namespace

RunSummary run_summary_with_hooks(const CallTree& tree) {
  RunSummary run = run_summary(*tree.database);
  if (!run.overhead_cpu_s || !run.overhead_start_s) return run;
  for (size_t m = 0; m < tree.metrics(); ++m) {
    if (tree.metric(m).name != "CPUTIME") continue;
    run.overhead_hooks_s = seconds_in_runtime(tree, m);
    *run.overhead_cpu_s += *run.overhead_hooks_s;
    break;
  }
  return run;
}

OverheadPart largest_part(const RunSummary& run) {
  if (!run.overhead_cpu_s || !run.overhead_start_s) return OverheadPart::None;
  const double start = *run.overhead_start_s;
  const double hooks = run.overhead_hooks_s.value_or(0);
  const double samples = *run.overhead_cpu_s - start - hooks;
  if (hooks >= start && hooks >= samples) return OverheadPart::Hooks;
  return start >= samples ? OverheadPart::Start : OverheadPart::Samples;
}

}  // namespace prof
