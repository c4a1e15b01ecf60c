#include "analysis/findings/device_idleness.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/run/device_calls.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr double kIdlenessWorthNaming = 0.10;                   // of the idleness
constexpr double kMediumIdleness = 0.05, kHighIdleness = 0.20;  // of the run
constexpr double kWorthRemoving = 0.02;                         // of the run
constexpr double kWorthTelling = 0.9;     // of a bound; a bound that is nearly as high is left out
constexpr double kMajorityOfWaits = 0.5;  // of the waits for a kernel
constexpr size_t kFindingsOfAKind = 3;

// Shortens "Device::enqueue(queue*, double) const" to "Device::enqueue", because sentences are long enough.
std::string without_parameters(const std::string& function) {
  const size_t end = function.rfind(')');
  if (end == std::string::npos || function.find_first_of(":<", end) != std::string::npos) return function;
  size_t depth = 0;
  for (size_t i = end + 1; i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return i > 0 ? function.substr(0, i) : function;
  }
  return function;
}

std::string from(const Blamed& blamed, const char* how) {
  if (blamed.caller.empty()) return "";
  const std::string location =
      blamed.caller_location.empty() ? "" : fmt::format(" ({})", blamed.caller_location);
  return fmt::format(" {} {}{}", how, without_parameters(blamed.caller), location);
}

Finding costed(FindingKind kind, const char* metric, const char* basis, const Blamed& blamed) {
  Finding finding;
  finding.id = finding_id(kind, blamed.frames);
  finding.kind = kind;
  finding.severity = severity_of(blamed.share_of_run, kMediumIdleness, kHighIdleness);
  finding.metric = metric;
  finding.cost = FindingCost{blamed.value_s, "sec", blamed.share_of_run, basis};
  if (blamed.removed_s > 0)
    finding.saving =
        at_most(blamed.removed_s, "elapsed time, scaled to that in which there was any idleness");
  finding.contexts.push_back({blamed.is_task ? "launch" : "cause", blamed.frames});
  finding.values = {{"share_of_idleness", blamed.share}};
  if (!blamed.is_call) finding.values["share_of_run_by_overlap"] = blamed.share_by_overlap;
  return finding;
}

// Returns "31 % of device idleness, at most 12 % of the run time, 5.0 % by overlap".
std::string shares(const Blamed& blamed, const char* whose) {
  std::string text = fmt::format("{} of {} idleness, at most {} of the run time",
                                 format_percent(blamed.share), whose, format_percent(blamed.share_of_run));
  if (!blamed.is_call && blamed.share_by_overlap < kWorthTelling * blamed.share_of_run)
    text += fmt::format(", {} by overlap", format_percent(blamed.share_by_overlap));
  return text;
}

Finding device_finding(const Blamed& blamed) {
  Finding finding =
      costed(FindingKind::DeviceIdle, "GPU_IDLE_CAUSE",
             "upper bound: time that devices had nothing to do while a thread was here", blamed);
  if (blamed.is_call) {
    const CallAdvice known = advice_for_call(blamed.what);
    finding.advice = known.advice;
    finding.sentence = fmt::format("{}{} {}: {}; {}.", blamed.what, from(blamed, "called from"), known.does,
                                   shares(blamed, "device"), finding.advice);
  } else {
    finding.advice = "launch independent work before it, or move it to the device";
    finding.sentence = fmt::format("The device has no work while {}{}{} computes: {}; {}.", blamed.what,
                                   blamed.location.empty() ? "" : " (" + blamed.location + ")",
                                   from(blamed, "called from"), shares(blamed, "device"), finding.advice);
  }
  return finding;
}

Finding event_finding(const Blamed& cause, const std::vector<Blamed>& waits) {
  Finding finding = costed(FindingKind::EventWait, "EVENT_WAIT_CAUSE",
                           "upper bound: time that commands waited for this event alone", cause);
  finding.values.erase("share_of_idleness");
  finding.values.erase("share_of_run_by_overlap");
  finding.values["share_of_event_waits"] = cause.share;
  finding.advice = "take the event out of the wait list if they do not need its result";
  finding.sentence = cause.what + from(cause, "launched from");
  if (!cause.outer_caller.empty())
    finding.sentence +=
        fmt::format(", called from {} ({}),", without_parameters(cause.outer_caller), cause.outer_location);
  finding.sentence += " makes commands of other queues wait for its event";
  // Only if it holds for any division of the waits among the events.
  if (!waits.empty() && waits[0].share + cause.share - 1 >= kMajorityOfWaits * cause.share) {
    finding.sentence += fmt::format(", mostly {}{}", waits[0].what, from(waits[0], "launched from"));
    if (!waits[0].outer_caller.empty())
      finding.sentence += fmt::format(", called from {} ({})", without_parameters(waits[0].outer_caller),
                                      waits[0].outer_location);
    finding.contexts.push_back({"wait", waits[0].frames});
  }
  finding.sentence +=
      fmt::format(": at most {} of the run time; {}.", format_percent(cause.share_of_run), finding.advice);
  return finding;
}

// Returns " mostly in clFinish called from step (step.cpp:20)", if that holds for any division of the waits
// among the kernels.
std::string mostly_in(const std::vector<Waiting>& waits, const Blamed& blamed) {
  if (waits.empty() || blamed.share <= 0) return "";
  const Blamed& most = waits[0].at;
  if (!most.is_call || most.share + blamed.share - 1 < kMajorityOfWaits * blamed.share) return "";
  return fmt::format(", mostly in {}{}", most.what, from(most, "called from"));
}

Finding cpu_finding(const Blamed& blamed, const Idleness& all) {
  Finding finding =
      costed(FindingKind::CpuIdle, "CPU_IDLE_CAUSE",
             "upper bound: time that threads waited for a device while this was active", blamed);
  finding.advice = "make it faster, or give the CPU work that does not need its result";
  finding.sentence = blamed.what + from(blamed, "launched from");
  if (!blamed.outer_caller.empty())
    finding.sentence +=
        fmt::format(", called from {} ({}),", without_parameters(blamed.outer_caller), blamed.outer_location);
  finding.sentence +=
      fmt::format(" keeps the CPU waiting{}: {}", mostly_in(all.waits, blamed), shares(blamed, "CPU"));
  const auto rank = std::ranges::find(all.tasks, blamed.what, &RankedTask::name);
  if (rank != all.tasks.end()) {
    finding.values["rank_by_blame"] = static_cast<double>(rank->blame_rank);
    finding.values["rank_by_time"] = static_cast<double>(rank->time_rank);
    if (rank->blame_rank != rank->time_rank)
      finding.sentence += fmt::format(" (number {} by blame, {} by time)", rank->blame_rank, rank->time_rank);
  }
  finding.sentence += "; " + finding.advice + ".";
  return finding;
}

template <typename Make>
void add_each(const std::vector<Blamed>& all, std::vector<Finding>& out, Make make) {
  for (size_t i = 0; i < std::min(all.size(), kFindingsOfAKind); ++i)
    if (all[i].share >= kIdlenessWorthNaming && all[i].share_of_run >= kWorthRemoving)
      out.push_back(make(all[i]));
}

}  // namespace

std::vector<Finding> device_idleness_findings(const Idleness& idleness) {
  std::vector<Finding> findings;
  add_each(idleness.device, findings, device_finding);
  add_each(idleness.cpu, findings, [&](const Blamed& b) { return cpu_finding(b, idleness); });
  add_each(idleness.event_causes, findings,
           [&](const Blamed& b) { return event_finding(b, idleness.event_waits); });
  std::ranges::stable_sort(findings, std::greater<>(), [](const Finding& finding) {
    return finding.cost.value_or(FindingCost{}).share_of_run;
  });
  return findings;
}

}  // namespace prof
