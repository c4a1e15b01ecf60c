#include "analysis/findings/deadlocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/run/format_open_waits.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

using Circle = std::vector<const OpenWaitRecord*>;

// Returns how long all of them had been waiting, which is the time of the last one.
double seconds_of(const Circle& circle) {
  return (*std::ranges::min_element(circle, {}, &OpenWaitRecord::seconds))->seconds;
}

std::string sentence(const CallTree& tree, const Circle& circle) {
  std::string text;
  const double seconds = seconds_of(circle);
  if (circle.size() == 1)
    text = "Deadlock: a thread waited for a lock that it held itself when the process ended";
  else
    text = fmt::format("Deadlock: {} waited for each other's locks when the process ended",
                       format_count(circle.size(), "thread"));
  if (seconds >= 1e-3) text += fmt::format(", for {}", format_duration(seconds));
  const char* before = ": ";
  for (const OpenWaitRecord* wait : circle) {
    text += before + format_open_wait(tree, *wait);
    before = "; ";
  }
  return text + ".";
}

Finding finding_of(const CallTree& tree, const RunSummary& run, const Circle& circle) {
  Finding finding;
  finding.id = deadlock_id(circle.front()->deadlock);
  finding.kind = FindingKind::Deadlock;
  finding.severity = Severity::High;
  finding.metric = "LOCK_WAIT";
  double waited = 0;
  for (const OpenWaitRecord* wait : circle) waited += wait->seconds;
  const double whole = run.cpu_s.value_or(0) + lock_waiting(run).seconds;
  finding.cost = FindingCost{waited, "sec", whole > 0 ? std::min(1.0, waited / whole) : 0,
                             "from when the threads began to wait until the process ended"};
  finding.saving = at_most(waited, "time of the waiting threads until the process ended");
  finding.sentence = sentence(tree, circle);
  for (const OpenWaitRecord* wait : circle)
    finding.contexts.push_back({"waits", frames_of(tree, wait->context)});
  finding.advice = circle.size() == 1
                       ? "Do not take a lock again in code that is called with it, or make it recursive."
                       : "Take locks that are held together in the same order everywhere, or all at once "
                         "(std::scoped_lock).";
  finding.values = {{"threads", static_cast<double>(circle.size())}};
  return finding;
}

}  // namespace

std::string deadlock_id(uint64_t deadlock) {
  const std::string number = fmt::format("{}", deadlock);
  return finding_id(FindingKind::Deadlock, number, number);
}

std::vector<Finding> deadlock_findings(const CallTree& tree, const RunSummary& run) {
  std::map<uint64_t, Circle> circles;
  for (const OpenWaitRecord& wait : run.locks.open)
    if (wait.deadlock != 0) circles[wait.deadlock].push_back(&wait);
  std::vector<Finding> findings;
  for (const auto& [number, circle] : circles) findings.push_back(finding_of(tree, run, circle));
  return findings;
}

}  // namespace prof
