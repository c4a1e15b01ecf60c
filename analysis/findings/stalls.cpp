#include "analysis/findings/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr double kMediumStall = 0.02, kHighStall = 0.10;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Stalls in which the most expensive thread was blocked in the same call path.
struct Group {
  std::vector<CodeFrame> frames;
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
      std::vector<CodeFrame> frames = frames_of(tree_, most.context);
      std::string key;
      for (const CodeFrame& frame : frames) key += fmt::format("{}\n{}\n", frame.function, frame.line);
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
    finding.severity = severity_of(share, kMediumStall, kHighStall);
    finding.metric = kStallMetric;
    finding.cost = FindingCost{seconds(group.lost_ns), "sec", share,
                               "traces: time in which all other threads waited in a barrier"};
    finding.saving = at_most(seconds(group.lost_ns), "elapsed time that the whole run lost");
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
    std::string text = fmt::format(
        "Stall: for {} ({} of the run) all other threads waited in {} for one that was blocked in {}",
        format_duration(seconds(group.lost_ns)), format_percent(share), barrier(longest), blocked_in(group));
    text += fmt::format(": {}", format_count(group.stalls.size(), "time"));
    if (group.stalls.size() > 1)
      text += fmt::format(", up to {}", format_duration(seconds(group.longest_ns)));
    text += group.threads.size() == 1
                ? fmt::format(", always thread {}", format_thread(*tree_.database, *group.threads.begin()))
                : fmt::format(", {} different threads", group.threads.size());
    if (group.waited_for_device_ns + group.woken_late_ns > 0) {
      text += fmt::format("; {} of it waiting for the device's work, {} after the device was done",
                          format_duration(seconds(group.waited_for_device_ns)),
                          format_duration(seconds(group.woken_late_ns)));
    }
    return text + ".";
  }

  std::string barrier(const Stall& stall) const {
    if (stall.barrier == kNone) return "a barrier";
    return public_name_of(frames_of(tree_, stall.barrier).front());
  }

  static std::string blocked_in(const Group& group) {
    if (group.frames.empty()) return "code of which no call path is known";
    const CodeFrame* caller = telling_caller(group.frames);
    return format_frame(group.frames.front()) + (caller ? ", called from " + format_frame(*caller) : "");
  }

  static std::string advice(const Group& group) {
    if (group.woken_late_ns > group.waited_for_device_ns)
      return "the device was done: check how the call waits (spinning, yielding, blocking), and check the "
             "driver";
    return "move the call off the path to the barrier, or find what delays it: a file system, a driver, or "
           "another process on that machine";
  }

  const CallTree& tree_;
  const StallReport& report_;
};

}  // namespace

std::vector<Finding> stall_findings(const CallTree& tree, const StallReport& report) {
  return StallFindings(tree, report).all();
}

}  // namespace prof
