#include "analysis/views/stall_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "analysis/stalls/barriers.h"
#include "analysis/views/finding_id.h"
#include "analysis/views/wording.h"
#include "hpcrun/measurement/format.h"

namespace prof {
namespace {

constexpr char kClock[] = "REALTIME";  // the one that goes on while a thread is blocked
constexpr double kMediumShare = 0.02, kHighShare = 0.10;
constexpr double kWorthANote = 0.01;  // of the run

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

bool is_of_c_library(const FindingFrame& frame) {
  return base_name(frame.module).starts_with("libc.so");
}

// As the program's author knows it.
std::string name_of(const FindingFrame& frame) {
  return is_of_c_library(frame) ? public_name(frame.function) : frame.function;
}

// The lines of the C library help nobody.
std::string at_line(const FindingFrame& frame) {
  if (frame.file.empty() || frame.line == 0 || is_of_c_library(frame)) return name_of(frame);
  return fmt::format("{} ({}:{})", name_of(frame), base_name(frame.file), frame.line);
}

// The nearest caller of which the source is known; else the nearest one. nullptr where there is none.
const FindingFrame* telling_caller(const std::vector<FindingFrame>& frames) {
  const FindingFrame* nearest = frames.size() > 1 ? &frames[1] : nullptr;
  for (size_t i = 1; i < frames.size(); ++i)
    if (!frames[i].file.empty() && frames[i].line > 0 && !is_of_c_library(frames[i])) return &frames[i];
  return nearest;
}

// Stalls in which the thread that cost most was blocked in the same call path.
struct Group {
  std::vector<FindingFrame> frames;
  std::vector<const Stall*> stalls;
  std::set<uint32_t> threads;
  uint64_t lost_ns = 0, longest_ns = 0, blocked_ns = 0;
  uint64_t waited_for_device_ns = 0, woken_late_ns = 0;
};

class StallFindings {
 public:
  StallFindings(const CallTree& tree, const StallReport& report) : tree_(tree), report_(report) {}

  std::vector<Finding> all() const {
    const std::vector<Group> all_groups = groups();
    std::vector<Finding> findings;
    findings.reserve(all_groups.size());
    for (const Group& group : all_groups) findings.push_back(finding(group));
    return findings;
  }

 private:
  std::vector<Group> groups() const {
    std::map<std::string, Group> by_path;
    for (const Stall& stall : report_.analysis.stalls) {
      const StalledThread& most = stall.threads.front();
      std::vector<FindingFrame> frames = frames_of(tree_, most.context);
      std::string key;
      for (const FindingFrame& frame : frames) key += fmt::format("{}\n{}\n", frame.function, frame.line);
      Group& group = by_path[key];
      group.frames = std::move(frames);
      group.stalls.push_back(&stall);
      group.lost_ns += stall.lost_ns;
      group.longest_ns = std::max(group.longest_ns, stall.lost_ns);
      for (const StalledThread& thread : stall.threads) {
        group.threads.insert(thread.profile);
        group.blocked_ns += thread.end_ns - thread.begin_ns;
        group.waited_for_device_ns += thread.waited_for_device_ns;
        group.woken_late_ns += thread.woken_late_ns;
      }
    }
    std::vector<Group> groups;
    for (auto& [key, group] : by_path) groups.push_back(std::move(group));
    std::ranges::stable_sort(groups, std::greater(), &Group::lost_ns);
    return groups;
  }

  Finding finding(const Group& group) const {
    Finding finding;
    const double share = report_.share_of_run(group.lost_ns);
    finding.id = finding_id(FindingKind::Stall, group.frames);
    finding.kind = FindingKind::Stall;
    finding.severity = share >= kHighShare     ? Severity::High
                       : share >= kMediumShare ? Severity::Medium
                                               : Severity::Low;
    finding.metric = kStallMetric;
    finding.cost = FindingCost{seconds(group.lost_ns), "sec", share,
                               "traces: time in which all other threads waited in a barrier"};
    finding.sentence = sentence(group, share);
    finding.contexts.push_back({"blocked", group.frames});
    const Stall& longest = **std::ranges::max_element(group.stalls, {}, &Stall::lost_ns);
    if (longest.waiting != kNone) finding.contexts.push_back({"waiting", frames_of(tree_, longest.waiting)});
    finding.advice = advice(group);
    finding.values = {{"stalls", static_cast<double>(group.stalls.size())},
                      {"threads", static_cast<double>(group.threads.size())},
                      {"longest_s", seconds(group.longest_ns)},
                      {"blocked_s", seconds(group.blocked_ns)}};
    if (group.waited_for_device_ns + group.woken_late_ns > 0) {
      finding.values["waited_for_device_s"] = seconds(group.waited_for_device_ns);
      finding.values["woken_late_s"] = seconds(group.woken_late_ns);
    }
    return finding;
  }

  std::string sentence(const Group& group, double share) const {
    const Stall& longest = **std::ranges::max_element(group.stalls, {}, &Stall::lost_ns);
    std::string text =
        fmt::format("For {} ({} of the run) all other threads waited in {} for one that was blocked in {}",
                    words_for_duration(seconds(group.lost_ns)), words_for_percent(share), barrier(longest),
                    blocked_in(group));
    text += fmt::format(": {}", words_for_count(group.stalls.size(), "time"));
    if (group.stalls.size() > 1)
      text += fmt::format(", up to {}", words_for_duration(seconds(group.longest_ns)));
    text += group.threads.size() == 1
                ? fmt::format(", always thread {}", thread_label(*tree_.database, *group.threads.begin()))
                : fmt::format(", {} different threads", group.threads.size());
    if (group.waited_for_device_ns + group.woken_late_ns > 0) {
      text += fmt::format("; {} of it waiting for the device's work, {} after the device was done",
                          words_for_duration(seconds(group.waited_for_device_ns)),
                          words_for_duration(seconds(group.woken_late_ns)));
    }
    return text + ".";
  }

  std::string barrier(const Stall& stall) const {
    if (stall.barrier == kNone) return "a barrier";
    return name_of(frames_of(tree_, stall.barrier).front());
  }

  static std::string blocked_in(const Group& group) {
    if (group.frames.empty()) return "code of which no call path is known";
    const FindingFrame* caller = telling_caller(group.frames);
    return at_line(group.frames.front()) + (caller ? ", called from " + at_line(*caller) : "");
  }

  static std::string advice(const Group& group) {
    if (group.woken_late_ns > group.waited_for_device_ns)
      return "the device was done: look at how the call waits (spinning, yielding, blocking) and at the "
             "driver";
    return "take the call out of the way to the barrier, or find what holds it up: a file system, a driver, "
           "or "
           "another process on that machine";
  }

  const CallTree& tree_;
  const StallReport& report_;
};

// How far the traces can tell.
std::vector<std::string> notes_on(const StallReport& report, const RunSummary& run) {
  const StallAnalysis& found = report.analysis;
  std::vector<std::string> notes;
  const double percent = report.options.share * 100;
  if (found.traces > 0 && 100.0 / found.traces >= percent) {
    notes.push_back(
        fmt::format("One of {} is {} of them, and not fewer than {:g} %: no stall can be found; allow more "
                    "with --stall-share.",
                    words_for_count(found.traces, "thread"), words_for_percent(1.0 / found.traces), percent));
  }
  if (report.share_of_run(found.unknown_ns) >= kWorthANote) {
    notes.push_back(fmt::format(
        "For {} more a thread was blocked and others waited, but of some nothing is known then: samples "
        "were lost, measuring was paused, or they had no processor.",
        words_for_duration(seconds(found.unknown_ns))));
  }
  std::ranges::move(sentences(run.notes, hpcrun::NoteKind::Traces), std::back_inserter(notes));
  return notes;
}

}  // namespace

std::optional<std::string> why_no_stalls(const CallTree& tree) {
  const Database& database = *tree.database;
  if (std::ranges::none_of(tree.selection.profiles,
                           [&](uint32_t profile) { return has_thread_trace(database, profile); }))
    return "stalls are found in traces, and no trace was recorded; measure with prof run --trace -e REALTIME";
  const auto clock = std::ranges::find(database.metrics, kClock, &Metric::name);
  // Of our own runs the trace follows the first event. Others do not say.
  if (clock == database.metrics.begin() || (clock != database.metrics.end() && !database.run))
    return std::nullopt;
  return fmt::format(
      "the traces follow {}, which stands still while a thread is blocked; measure with prof run --trace -e "
      "REALTIME{}",
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
  report.findings = StallFindings(tree, report).all();
  report.notes = notes_on(report, run);
  return report;
}

std::string stalls_in_words(const StallReport& report) {
  const StallAnalysis& found = report.analysis;
  const std::string run = words_for_duration(seconds(found.duration_ns()));
  if (found.stalls.empty()) {
    if (found.long_intervals == 0) return fmt::format("none in {}: no thread was blocked for long", run);
    return fmt::format("none in {}: threads were blocked {}, up to {}, but not all others waited for them",
                       run, words_for_count(found.long_intervals, "time"),
                       words_for_duration(seconds(found.longest_ns)));
  }
  return fmt::format("{} ({} of {}) lost in {}, while all other threads waited in a barrier",
                     words_for_duration(seconds(found.lost_ns)),
                     words_for_percent(report.share_of_run(found.lost_ns)), run,
                     words_for_count(found.stalls.size(), "stall"));
}

std::string traces_in_words(const StallReport& report) {
  std::string text = words_for_count(report.analysis.traces, "thread") + ", by elapsed time (REALTIME)";
  if (report.options.period_ns > 0)
    text += fmt::format(", a sample each {}", words_for_duration(seconds(report.options.period_ns)));
  if (report.analysis.bystanders > 0)
    text += fmt::format("; {} left out that nobody waits for in a barrier",
                        words_for_count(report.analysis.bystanders, "more thread"));
  return text;
}

std::string stall_rule_in_words(const StallOptions& options) {
  return fmt::format(
      "blocked: no sample for more than {:g} times the thread's median; fewer than {:g} % of the threads "
      "at a time",
      options.factor, options.share * 100);
}

std::vector<FindingFrame> frames_of(const CallTree& tree, uint32_t context) {
  const Database& database = *tree.database;
  std::vector<FindingFrame> frames;
  Place place;
  for (uint32_t at = context; at != kNone; at = database.contexts[at].parent) {
    if (!place.known()) place = place_of(database.contexts[at]);
    if (!starts_frame(database.contexts[at])) continue;
    const Frame& frame = tree.frames[tree.nodes[tree.node_of[at]].frame];
    if (frame.kind == FrameKind::Entry) break;
    if (!place.known()) place = definition(frame);
    FindingFrame& added = frames.emplace_back();
    added.function = frame_name(database, frame);
    if (place.file < database.files.size()) added.file = database.files[place.file].path;
    added.line = added.file.empty() ? 0 : place.line;
    if (frame.module < database.modules.size()) added.module = database.modules[frame.module].path;
    place = {};
  }
  return frames;
}

std::string words_for_frame(const FindingFrame& frame) {
  return at_line(frame);
}

std::string words_for_call(const std::vector<FindingFrame>& frames) {
  if (frames.empty()) return "?";
  const FindingFrame* caller = telling_caller(frames);
  return at_line(frames.front()) + (caller ? " <- " + at_line(*caller) : "");
}

}  // namespace prof
