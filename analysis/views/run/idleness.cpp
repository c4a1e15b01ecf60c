#include "analysis/views/run/idleness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/database/stored_values.h"
#include "analysis/views/run/device_calls.h"
#include "analysis/views/run/team_waits.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/program_lines.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

constexpr double kMinIdleness = 1e-12;        // seconds; less was not measured
constexpr char kDeviceModule[] = "[device]";  // as the analysis names it

uint32_t metric_named(const Database& database, std::string_view name) {
  const auto at = std::ranges::find(database.metrics, name, &Metric::name);
  return at == database.metrics.end() ? kNone : static_cast<uint32_t>(at - database.metrics.begin());
}

// Savings are shares of the program's own time. Excludes loading, and what the runtime does before and after:
// it would remain without the cause, or be absent without prof. If several processes use devices, sums their
// times, so that shares are means.
double run_seconds(const RunSummary& run) {
  std::map<std::tuple<std::string, int32_t, int32_t>, double> processes;
  for (const DeviceUse& use : run.devices) {
    double& own = processes[{use.host, use.rank, use.process}];
    own = std::max({own, use.program_s, use.window_s});
  }
  if (processes.size() <= 1 && (run.program_s || run.wall_s))
    return run.program_s.value_or(run.wall_s.value_or(0));
  double sum = 0;
  for (const auto& [process, own] : processes) sum += own;
  return sum;
}

// The saving if both worked at once: the time in which only one side worked. Time in which neither worked,
// such as the latencies of a wait, remains in either case.
struct Alone {
  double device_s = 0;  // a task was active and a thread waited
  double cpu_s = 0;     // no task was, and no thread waited
};

Alone alone(const std::vector<DeviceUse>& uses) {
  Alone sums;
  for (const DeviceUse& use : uses) {
    const double device_s = std::max(0.0, use.busy_s - use.overlap_s);
    sums.device_s += device_s;
    sums.cpu_s += std::max(0.0, use.idle_s() - std::max(0.0, use.cpu_waits_s - device_s));
  }
  return sums;
}

// Blame adds up over threads; the saving is limited to the time in which there was any blame.
double scale_to(double bound, double total) {
  return bound > 0 && total > bound ? bound / total : 1;
}

class Blamer {
 public:
  // Avoids a lookup of a metric that the database does not have.
  Blamer(const Database& database, const Selection& selection, const std::vector<std::string>& metrics)
      : database_(database), is_stripped_(stripped_modules(database)) {
    Selection wanted = selection;
    wanted.metrics.clear();
    for (const std::string& name : metrics) {
      const uint32_t metric = metric_named(database, name);
      if (metric == kNone && wanted.metrics.empty()) return;
      if (metric != kNone) wanted.metrics.push_back(metric);
      position_[name] = metric == kNone ? SIZE_MAX : wanted.metrics.size() - 1;
    }
    tree_ = build_call_tree(database, wanted, false);
    find_own_costs();
  }

  // Excludes what was left out.
  double total() const { return tree_.totals.empty() ? 0 : std::max(0.0, tree_.totals[0] - left_out_); }

  // Leaves out the first metric's cost of threads that wait in OpenMP, OpenBLAS or MPI: the threads and ranks
  // that they wait for are blamed for the same time.
  void leave_out_waits_for_others(Idleness& result) {
    for (uint32_t c = 0; !own_.empty() && c < database_.contexts.size(); ++c) {
      if (own_[0][c] <= 0) continue;
      const std::vector<Step> path = path_to_blame(c);
      const bool for_ranks = is_rank_wait(path);
      if (!for_ranks && !is_team_wait(path)) continue;
      (for_ranks ? result.rank_waits_s : result.team_waits_s) += own_[0][c];
      left_out_ += std::exchange(own_[0][c], 0);
    }
  }

  struct Group {
    uint32_t context = kNone;  // the most expensive
    double heaviest = 0;
    std::vector<double> sums;                            // by metric
    std::map<std::pair<uint32_t, uint32_t>, double> at;  // by file and line of the function itself
  };

  // Sums up costs by call of a device's API with the location of the call, or otherwise by function and
  // caller. Sums up costs of tasks by name, launch and the caller of the launching function, which may be a
  // helper that launches everything. By falling cost of the first metric.
  std::vector<Group> groups() const {
    std::map<Key, Group> by_location;
    const size_t width = tree_.metrics();
    for (uint32_t c = 0; width > 0 && c < database_.contexts.size(); ++c) {
      if (own_[0][c] <= 0) continue;
      const std::vector<Step> path = path_to_blame(c);
      if (path.empty()) continue;
      Group& group = by_location[key_of(path)];
      group.sums.resize(width);
      for (size_t m = 0; m < width; ++m) group.sums[m] += own_[m][c];
      group.at[{path[0].location.file, path[0].location.line}] += own_[0][c];
      if (own_[0][c] > group.heaviest) {
        group.heaviest = own_[0][c];
        group.context = c;
      }
    }
    std::vector<Group> sorted;
    sorted.reserve(by_location.size());
    for (auto& [key, group] : by_location) sorted.push_back(std::move(group));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Group& a, const Group& b) { return a.sums[0] > b.sums[0]; });
    return sorted;
  }

  double value(const Group& group, const std::string& metric) const {
    const auto at = position_.find(metric);
    return at == position_.end() || at->second == SIZE_MAX ? 0 : group.sums[at->second];
  }

  // The measured costs of functions of the program, without calls of a device's API.
  double computed(const std::vector<Group>& groups) const {
    double sum = 0;
    for (const Group& group : groups)
      if (const std::vector<Step> path = path_to_blame(group.context); !is_call(path[0].frame))
        sum += group.sums[0];
    return sum;
  }

  // `bound_s`: how long there was any blame. Overlap saves no more than the time in which the other side
  // worked alone.
  Blamed describe(const Group& group, double bound_s, double alone_s, double run_s) const {
    std::vector<Step> path = path_to_blame(group.context);
    Blamed blamed;
    blamed.what = name(path[0].frame);
    blamed.is_call = is_call(path[0].frame);
    blamed.value_s = group.sums[0];
    blamed.share = total() > 0 ? group.sums[0] / total() : 0;
    if (run_s > 0) {
      blamed.removed_s = std::min(run_s, group.sums[0] * scale_to(bound_s, total()));
      blamed.share_of_run = blamed.removed_s / run_s;
      blamed.share_by_overlap = std::min(blamed.removed_s, alone_s) / run_s;
    }
    if (const Step* caller = caller_of(path, 0)) {
      blamed.caller = name(caller->frame);
      blamed.caller_location = format_location(database_, caller->location);
      if (is_task(path[0].frame)) add_outer_caller(caller_of(path, caller - path.data()), blamed);
    }
    if (blamed.is_call || is_task(path[0].frame)) {
      blamed.location = blamed.caller_location;
    } else {
      const auto most = std::ranges::max_element(group.at, {}, [](const auto& line) { return line.second; });
      path[0].location = {most->first.first, most->first.second};
      blamed.location = format_location(database_, path[0].location);
    }
    blamed.is_task = is_task(path[0].frame);
    for (const Step& step : path) blamed.frames.push_back(code_frame(tree_, step.frame, step.location));
    return blamed;
  }

  std::map<std::string, double> by_name() const {
    std::map<std::string, double> sums;
    for (uint32_t n = 0; n < tree_.nodes.size(); ++n)
      if (tree_.cost(n, 0).exclusive > 0) sums[name(tree_.nodes[n].frame)] += tree_.cost(n, 0).exclusive;
    return sums;
  }

 private:
  // A function on a call path, and its line that has the cost or calls the next function.
  struct Step {
    uint32_t frame;
    SourceLocation location;
  };
  // The frames of the blamed function and of its caller, file and line of the call, and the frame of the
  // caller's caller.
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;

  // The exclusive cost of a context; for a function, without that of its lines. Calls from several lines of
  // one function, which are one node of the tree, stay separate here.
  void find_own_costs() {
    const size_t width = tree_.metrics();
    for (const std::vector<Cost>& column : tree_.by_context) {
      std::vector<double>& own = own_.emplace_back();
      own.reserve(column.size());
      for (const Cost& cost : column) own.push_back(cost.exclusive);
    }
    for (uint32_t c = 0; c < database_.contexts.size(); ++c) {
      if (starts_frame(database_.contexts[c])) continue;
      uint32_t function = c;
      while (!starts_frame(database_.contexts[function])) function = database_.contexts[function].parent;
      for (size_t m = 0; m < width; ++m) own_[m][function] -= tree_.by_context[m][c].exclusive;
    }
    // Removes differences that are due to rounding.
    for (std::vector<double>& own : own_)
      for (double& cost : own)
        if (cost < kMinIdleness) cost = 0;
  }

  // Returns the innermost function first, without entry points.
  std::vector<Step> path_of(uint32_t context) const {
    std::vector<Step> path;
    SourceLocation location;
    for (uint32_t at = context; at != kNone; at = database_.contexts[at].parent) {
      const Context& here = database_.contexts[at];
      if (!location.known()) location = location_of(here);
      if (!starts_frame(here)) continue;
      if (here.kind != ContextKind::Entry) path.push_back({tree_.nodes[tree_.node_of[at]].frame, location});
      location = {};
    }
    return path;
  }

  // Time inside a call of a device's API is attributed to the outermost one.
  std::vector<Step> path_to_blame(uint32_t context) const {
    std::vector<Step> path = path_of(context);
    if (path.empty() || is_task(path[0].frame)) return path;
    size_t from = 0;
    for (size_t i = 0; i < path.size(); ++i)
      if (is_call(path[i].frame)) from = i;
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(from));
    return path;
  }

  bool is_team_wait(const std::vector<Step>& path) const {
    for (const Step& step : path) {
      if (is_call(step.frame)) return false;
      const std::string module = module_path(step.frame);
      if (!is_c_library(module)) return waits_in_team(module, name(step.frame));
    }
    return false;
  }

  bool is_rank_wait(const std::vector<Step>& path) const {
    return std::ranges::any_of(path, [&](const Step& step) { return waits_for_ranks(name(step.frame)); });
  }

  // Returns the nearest function above a step that is not of a device's API and has a name, or belongs to a
  // program without symbols.
  const Step* caller_of(const std::vector<Step>& path, ptrdiff_t step) const {
    for (size_t i = static_cast<size_t>(step) + 1; i < path.size(); ++i)
      if (!is_call(path[i].frame) &&
          (has_symbol(database_, tree_.frames[path[i].frame]) || is_of_stripped(tree_.frames[path[i].frame])))
        return &path[i];
    return nullptr;
  }

  Key key_of(const std::vector<Step>& path) const {
    Key key{path[0].frame, kNone, kNone, 0, kNone};
    const Step* const caller = caller_of(path, 0);
    if (caller == nullptr) return key;
    std::get<1>(key) = caller->frame;
    if (!is_call(path[0].frame) && !is_task(path[0].frame)) return key;
    std::get<2>(key) = caller->location.file;
    std::get<3>(key) = caller->location.line;
    if (!is_task(path[0].frame)) return key;
    if (const Step* outer = caller_of(path, caller - path.data())) std::get<4>(key) = outer->frame;
    return key;
  }

  void add_outer_caller(const Step* outer, Blamed& blamed) const {
    if (outer == nullptr || name(outer->frame) == "main" || is_start_code(name(outer->frame))) return;
    blamed.outer_location = format_location(database_, outer->location);
    if (!blamed.outer_location.empty()) blamed.outer_caller = name(outer->frame);
  }

  bool is_of_stripped(const Frame& frame) const {
    return frame.kind == FrameKind::Function && frame.module < is_stripped_.size() &&
           is_stripped_[frame.module];
  }
  std::string name(uint32_t frame) const { return frame_name(database_, tree_.frames[frame]); }
  bool is_call(uint32_t frame) const { return !is_task(frame) && is_device_call(name(frame)); }
  bool is_task(uint32_t frame) const { return module_path(frame) == kDeviceModule; }
  std::string module_path(uint32_t frame) const {
    const uint32_t module = tree_.frames[frame].module;
    return module < database_.modules.size() ? database_.modules[module].path : "";
  }

  const Database& database_;
  std::vector<bool> is_stripped_;  // modules
  CallTree tree_;
  std::vector<std::vector<double>> own_;    // [m][context]
  double left_out_ = 0;                     // of the first metric
  std::map<std::string, size_t> position_;  // of a metric in the tree; SIZE_MAX: the database has none
};

std::vector<RankedTask> ranked(const std::map<std::string, double>& times,
                               const std::map<std::string, double>& blames) {
  std::vector<RankedTask> tasks;
  for (const auto& [name, time] : times) {
    const auto blame = blames.find(name);
    tasks.push_back({name, time, blame == blames.end() ? 0 : blame->second});
  }
  std::ranges::stable_sort(tasks, std::greater<>(), &RankedTask::time_s);
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i].time_rank = i + 1;
  std::ranges::stable_sort(tasks, std::greater<>(), &RankedTask::blame_s);
  for (size_t i = 0; i < tasks.size(); ++i) tasks[i].blame_rank = i + 1;
  return tasks;
}

}  // namespace

Idleness idleness(const Database& database, const Selection& selection, const RunSummary& run) {
  Idleness result;
  if (run.devices.empty()) return result;
  const double run_s = run_seconds(run);
  double idle_s = 0, waits_s = 0;
  for (const DeviceUse& use : run.devices) {
    idle_s += use.idle_s();
    waits_s += use.cpu_waits_s;
  }
  const Alone work = alone(run.devices);
  Blamer device(database, selection, {"GPU_IDLE_CAUSE"});
  device.leave_out_waits_for_others(result);
  const std::vector<Blamer::Group> causes = device.groups();
  for (const Blamer::Group& group : causes)
    result.device.push_back(device.describe(group, idle_s, work.device_s, run_s));
  if (selection.every_profile) result.unblamed_s = std::max(0.0, idle_s - device.total());
  // Work that can be done while a device works is computing, not the calls that keep it at work.
  const double computed_s = std::min(work.cpu_s, device.computed(causes) * scale_to(idle_s, device.total()));
  const Blamer cpu(database, selection, {"CPU_IDLE_CAUSE"});
  for (const Blamer::Group& group : cpu.groups())
    result.cpu.push_back(cpu.describe(group, waits_s, computed_s, run_s));
  const Blamer waits(database, selection, {"CPU_IDLE", "LAUNCH_LATENCY", "GPU_GAP", "WAKE_LATENCY"});
  for (const Blamer::Group& group : waits.groups()) {
    Waiting waiting{waits.describe(group, waits_s, computed_s, run_s)};
    waiting.launch_latency_s = waits.value(group, "LAUNCH_LATENCY");
    waiting.gap_s = waits.value(group, "GPU_GAP");
    waiting.wake_latency_s = waits.value(group, "WAKE_LATENCY");
    result.waits.push_back(std::move(waiting));
  }
  double busy_s = 0;
  for (const DeviceUse& use : run.devices) busy_s += use.busy_s;
  for (const auto& [metric, blamed] :
       {std::pair("EVENT_WAIT_CAUSE", &result.event_causes), std::pair("EVENT_WAIT", &result.event_waits)}) {
    const Blamer events(database, selection, {metric});
    for (const Blamer::Group& group : events.groups())
      blamed->push_back(events.describe(group, busy_s, busy_s, run_s));
  }
  result.tasks = ranked(Blamer(database, selection, {"GPU_EXECUTION_TIME"}).by_name(), cpu.by_name());
  return result;
}

QueueCosts queue_costs(const Database& database, uint32_t profile) {
  const Profile& queue = database.profiles[profile];
  QueueCosts costs;
  costs.tasks = queue.samples;
  const std::pair<const char*, double*> metrics[] = {{"GPU_EXECUTION_TIME", &costs.execution_s},
                                                     {"COPY_TIME", &costs.copy_s},
                                                     {"OVERLAP", &costs.overlap_s},
                                                     {"H_TO_D_BYTES", &costs.to_device_bytes},
                                                     {"D_TO_H_BYTES", &costs.from_device_bytes}};
  std::vector<ProfileValue> buffer;
  for (const ProfileValue& value : values_of(database, profile, buffer)) {
    if (database.contexts[value.context].parent != kNone) continue;
    for (const auto& [name, out] : metrics)
      if (database.metrics[value.metric].name == name) *out += value.values.inclusive;
  }
  return costs;
}

}  // namespace prof
