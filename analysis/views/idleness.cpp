#include "analysis/views/idleness.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/views/device_calls.h"
#include "analysis/views/places.h"
#include "analysis/views/wording.h"

namespace prof {
namespace {

constexpr double kWorthNaming = 0.10;    // of the idleness
constexpr double kWorthRemoving = 0.02;  // of the run
constexpr double kWorthTelling = 0.9;    // of a bound: a lower one that is as good as it is not told
constexpr size_t kFindingsOfAKind = 3;
constexpr double kRounding = 1e-12;           // seconds: less was not measured
constexpr char kDeviceModule[] = "[device]";  // as the analysis names it

uint32_t metric_named(const Database& database, std::string_view name) {
  const auto at = std::ranges::find(database.metrics, name, &Metric::name);
  return at == database.metrics.end() ? kNone : static_cast<uint32_t>(at - database.metrics.begin());
}

// What an optimist divides by: of several processes the mean share of their time.
double run_seconds(const RunSummary& run) {
  std::map<std::tuple<std::string, int32_t, int32_t>, double> windows;
  for (const DeviceUse& use : run.devices) {
    double& window = windows[{use.host, use.rank, use.process}];
    window = std::max(window, use.window_s);
  }
  if (windows.size() <= 1 && run.wall_s) return *run.wall_s;
  double sum = 0;
  for (const auto& [process, window] : windows) sum += window;
  return sum;
}

// Blame adds up over threads; what can be saved is bounded by the time in which it was there at all.
double scale_to(double bound, double total) {
  return bound > 0 && total > bound ? bound / total : 1;
}

class Blamer {
 public:
  // Nothing is to be asked of a metric that the database does not have.
  Blamer(const Database& database, const Selection& selection, const std::vector<std::string>& metrics)
      : database_(database) {
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

  double total() const { return tree_.totals.empty() ? 0 : tree_.totals[0]; }

  struct Group {
    uint32_t context = kNone;  // the heaviest
    double heaviest = 0;
    std::vector<double> sums;                            // by metric
    std::map<std::pair<uint32_t, uint32_t>, double> at;  // by file and line of the function itself
  };

  // Costs by call of a device's API with the place of the call, or else by function; of tasks by name and
  // launch. By falling cost of the first metric.
  std::vector<Group> groups() const {
    std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, Group> by_place;
    const size_t width = tree_.metrics();
    for (uint32_t c = 0; width > 0 && c < database_.contexts.size(); ++c) {
      if (own_[c * width] <= 0) continue;
      const std::vector<Step> path = path_to_blame(c);
      if (path.empty()) continue;
      std::tuple<uint32_t, uint32_t, uint32_t, uint32_t> key{path[0].frame, kNone, kNone, 0};
      if (is_call(path[0].frame) || is_task(path[0].frame)) {
        if (const Step* caller = caller_in(path))
          key = {path[0].frame, caller->frame, caller->place.file, caller->place.line};
      }
      Group& group = by_place[key];
      group.sums.resize(width);
      for (size_t m = 0; m < width; ++m) group.sums[m] += own_[c * width + m];
      group.at[{path[0].place.file, path[0].place.line}] += own_[c * width];
      if (own_[c * width] > group.heaviest) {
        group.heaviest = own_[c * width];
        group.context = c;
      }
    }
    std::vector<Group> sorted;
    sorted.reserve(by_place.size());
    for (auto& [key, group] : by_place) sorted.push_back(std::move(group));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Group& a, const Group& b) { return a.sums[0] > b.sums[0]; });
    return sorted;
  }

  double value(const Group& group, const std::string& metric) const {
    const auto at = position_.find(metric);
    return at == position_.end() || at->second == SIZE_MAX ? 0 : group.sums[at->second];
  }

  // Overlap saves no more than the other side, which it gives something to do, has to spare.
  Blamed describe(const Group& group, double bound_s, double spare_s, double run_s) const {
    std::vector<Step> path = path_to_blame(group.context);
    Blamed blamed;
    blamed.what = name(path[0].frame);
    blamed.is_call = is_call(path[0].frame);
    blamed.value_s = group.sums[0];
    blamed.share = tree_.share(group.sums[0], 0);
    if (run_s > 0) {
      const double removed_s = group.sums[0] * scale_to(bound_s, total());
      blamed.share_of_run = std::min(1.0, removed_s / run_s);
      blamed.share_by_overlap = std::min(1.0, std::min(removed_s, spare_s) / run_s);
    }
    const Step* caller = caller_in(path);
    if (caller != nullptr) blamed.caller = name(caller->frame);
    if (blamed.is_call || is_task(path[0].frame)) {
      if (caller != nullptr) blamed.place = words_for_place(database_, caller->place);
    } else {
      const auto most = std::ranges::max_element(group.at, {}, [](const auto& line) { return line.second; });
      path[0].place = {most->first.first, most->first.second};
      blamed.place = words_for_place(database_, path[0].place);
    }
    blamed.context.role = is_task(path[0].frame) ? "launch" : "cause";
    for (const Step& step : path) blamed.context.frames.push_back(described(step));
    return blamed;
  }

  std::map<std::string, double> by_name() const {
    std::map<std::string, double> sums;
    for (uint32_t n = 0; n < tree_.nodes.size(); ++n)
      if (tree_.cost(n, 0).exclusive > 0) sums[name(tree_.nodes[n].frame)] += tree_.cost(n, 0).exclusive;
    return sums;
  }

 private:
  // A function on a call path, and the line in it of the cost or of the call to the next one.
  struct Step {
    uint32_t frame;
    Place place;
  };

  // What was measured at a context itself: of a function without what its lines have. Calls from several
  // lines of one function, which are one node of the tree, stay apart here.
  void find_own_costs() {
    const size_t width = tree_.metrics();
    own_.resize(tree_.by_context.size());
    for (size_t i = 0; i < own_.size(); ++i) own_[i] = tree_.by_context[i].exclusive;
    for (uint32_t c = 0; c < database_.contexts.size(); ++c) {
      if (starts_frame(database_.contexts[c])) continue;
      uint32_t function = c;
      while (!starts_frame(database_.contexts[function])) function = database_.contexts[function].parent;
      for (size_t m = 0; m < width; ++m)
        own_[function * width + m] -= tree_.by_context[c * width + m].exclusive;
    }
    // Differences of sums that are equal but for their rounding.
    for (double& cost : own_)
      if (cost < kRounding) cost = 0;
  }

  // The innermost first, entry points left out.
  std::vector<Step> path_of(uint32_t context) const {
    std::vector<Step> path;
    Place place;
    for (uint32_t at = context; at != kNone; at = database_.contexts[at].parent) {
      const Context& here = database_.contexts[at];
      if (!place.known()) place = place_of(here);
      if (!starts_frame(here)) continue;
      if (here.kind != ContextKind::Entry) path.push_back({tree_.nodes[tree_.node_of[at]].frame, place});
      place = {};
    }
    return path;
  }

  // What happens inside of a call of a device's API is the call's: the outermost one.
  std::vector<Step> path_to_blame(uint32_t context) const {
    std::vector<Step> path = path_of(context);
    if (path.empty() || is_task(path[0].frame)) return path;
    size_t from = 0;
    for (size_t i = 0; i < path.size(); ++i)
      if (is_call(path[i].frame)) from = i;
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(from));
    return path;
  }

  // The nearest function with a name that is not of a device's API.
  const Step* caller_in(const std::vector<Step>& path) const {
    for (size_t i = 1; i < path.size(); ++i)
      if (!is_call(path[i].frame) && has_symbol(database_, tree_.frames[path[i].frame])) return &path[i];
    return nullptr;
  }

  std::string name(uint32_t frame) const { return frame_name(database_, tree_.frames[frame]); }
  bool is_call(uint32_t frame) const { return !is_task(frame) && is_device_call(name(frame)); }
  bool is_task(uint32_t frame) const {
    const uint32_t module = tree_.frames[frame].module;
    return module < database_.modules.size() && database_.modules[module].path == kDeviceModule;
  }

  FindingFrame described(const Step& step) const {
    FindingFrame result;
    result.function = name(step.frame);
    if (step.place.file < database_.files.size()) result.file = database_.files[step.place.file].path;
    result.line = result.file.empty() ? 0 : step.place.line;
    if (tree_.frames[step.frame].module < database_.modules.size())
      result.module = database_.modules[tree_.frames[step.frame].module].path;
    return result;
  }

  const Database& database_;
  CallTree tree_;
  std::vector<double> own_;                 // [context * metrics + m]
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

Severity severity_of(double share_of_run) {
  return share_of_run >= 0.2 ? Severity::High : share_of_run >= 0.05 ? Severity::Medium : Severity::Low;
}

std::string from(const Blamed& blamed, const char* how) {
  if (blamed.caller.empty()) return "";
  const std::string place = blamed.place.empty() ? "" : fmt::format(" ({})", blamed.place);
  return fmt::format(" {} {}{}", how, blamed.caller, place);
}

Finding costed(const char* kind, const char* metric, const char* basis, const Blamed& blamed) {
  Finding finding;
  finding.kind = kind;
  finding.severity = severity_of(blamed.share_of_run);
  finding.metric = metric;
  finding.cost = FindingCost{blamed.value_s, "sec", blamed.share_of_run, basis};
  finding.contexts.push_back(blamed.context);
  finding.values = {{"share_of_idleness", blamed.share}};
  if (!blamed.is_call) finding.values["share_of_run_by_overlap"] = blamed.share_by_overlap;
  return finding;
}

// "31 % of device idleness, at most 12 % of the run time (5.0 % by overlap)"
std::string shares(const Blamed& blamed, const char* whose) {
  std::string text =
      fmt::format("{} of {} idleness, at most {} of the run time", words_for_percent(blamed.share), whose,
                  words_for_percent(blamed.share_of_run));
  if (!blamed.is_call && blamed.share_by_overlap < kWorthTelling * blamed.share_of_run)
    text += fmt::format(" ({} by overlap)", words_for_percent(blamed.share_by_overlap));
  return text;
}

Finding device_finding(const Blamed& blamed) {
  Finding finding =
      costed("device-idle", "GPU_IDLE_CAUSE",
             "upper bound: time that devices had nothing to do while a thread was here", blamed);
  if (blamed.is_call) {
    const CallAdvice known = advice_for_call(blamed.what);
    finding.advice = known.advice;
    finding.sentence = fmt::format("{}{} {}: {}; {}.", blamed.what, from(blamed, "called from"), known.does,
                                   shares(blamed, "device"), finding.advice);
  } else {
    finding.advice = "launch before it what does not depend on it, or move it to the device";
    finding.sentence = fmt::format("The device has no work while {}{} computes: {}; {}.", blamed.what,
                                   blamed.place.empty() ? "" : " (" + blamed.place + ")",
                                   shares(blamed, "device"), finding.advice);
  }
  return finding;
}

Finding cpu_finding(const Blamed& blamed, const std::vector<RankedTask>& tasks) {
  Finding finding =
      costed("cpu-idle", "CPU_IDLE_CAUSE",
             "upper bound: time that threads waited for a device while this was active", blamed);
  finding.advice = "make it faster, or give the CPU work that does not need its result";
  finding.sentence = fmt::format("{}{} keeps the CPU waiting: {}", blamed.what, from(blamed, "launched from"),
                                 shares(blamed, "CPU"));
  const auto rank = std::ranges::find(tasks, blamed.what, &RankedTask::name);
  if (rank != tasks.end()) {
    finding.values["rank_by_blame"] = static_cast<double>(rank->blame_rank);
    finding.values["rank_by_time"] = static_cast<double>(rank->time_rank);
    if (rank->blame_rank != rank->time_rank)
      finding.sentence += fmt::format(" (number {} by blame, {} by time)", rank->blame_rank, rank->time_rank);
  }
  finding.sentence += "; " + finding.advice + ".";
  return finding;
}

template <typename Make>
void add_findings(const std::vector<Blamed>& all, std::vector<Finding>& out, Make make) {
  for (size_t i = 0; i < std::min(all.size(), kFindingsOfAKind); ++i)
    if (all[i].share >= kWorthNaming && all[i].share_of_run >= kWorthRemoving) out.push_back(make(all[i]));
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
  const Blamer device(database, selection, {"GPU_IDLE_CAUSE"});
  for (const Blamer::Group& group : device.groups())
    result.device.push_back(device.describe(group, idle_s, waits_s, run_s));
  const Blamer cpu(database, selection, {"CPU_IDLE_CAUSE"});
  for (const Blamer::Group& group : cpu.groups())
    result.cpu.push_back(cpu.describe(group, waits_s, idle_s, run_s));
  const Blamer waits(database, selection, {"CPU_IDLE", "LAUNCH_LATENCY", "GPU_GAP", "WAKE_LATENCY"});
  for (const Blamer::Group& group : waits.groups()) {
    Waiting waiting{waits.describe(group, waits_s, idle_s, run_s)};
    waiting.at.context.role = "wait";
    waiting.launch_latency_s = waits.value(group, "LAUNCH_LATENCY");
    waiting.gap_s = waits.value(group, "GPU_GAP");
    waiting.wake_latency_s = waits.value(group, "WAKE_LATENCY");
    result.waits.push_back(std::move(waiting));
  }
  result.tasks = ranked(Blamer(database, selection, {"GPU_EXECUTION_TIME"}).by_name(), cpu.by_name());

  add_findings(result.device, result.findings, device_finding);
  add_findings(result.cpu, result.findings, [&](const Blamed& b) { return cpu_finding(b, result.tasks); });
  std::ranges::stable_sort(result.findings, std::greater<>(), [](const Finding& finding) {
    return finding.cost.value_or(FindingCost{}).share_of_run;
  });
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
  for (const ProfileValue& value : queue.values) {
    if (database.contexts[value.context].parent != kNone) continue;
    for (const auto& [name, out] : metrics)
      if (database.metrics[value.metric].name == name) *out += value.values.inclusive;
  }
  return costs;
}

}  // namespace prof
