#include "analysis/findings/locks.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

// Shares of the time in which threads worked or waited for a lock.
constexpr double kMinLockShare = 0.01, kMediumLockShare = 0.05, kHighLockShare = 0.20;
constexpr double kMinLockSeconds = 1e-3;
constexpr double kMainHolder = 0.5;  // of the time for which the lock's holder is known
constexpr size_t kShownUsers = 8;    // of each, as contexts of a finding

double share_of(double seconds, const RunSummary& run) {
  const double whole = run.cpu_s.value_or(0) + lock_waiting(run).seconds;
  return whole > 0 ? std::min(1.0, seconds / whole) : 0;
}

// nullptr: the holder of the lock is not known.
const LockSide* main_holder(const LockRecord& record) {
  return record.holders.empty() ? nullptr : &record.holders.front();
}

bool has_one_main_holder(const LockRecord& record) {
  const LockSide* const holder = main_holder(record);
  return holder && holder->seconds >= kMainHolder * record.blamed_s;
}

// Deadlocks have a finding of their own, which covers all waiting for the lock.
bool is_in_deadlock(const LockRecord& record, const RunSummary& run) {
  return record.open_s > 0.5 * record.waited_s &&
         std::ranges::any_of(run.locks.open, [&](const OpenWaitRecord& wait) {
           return wait.deadlock != 0 && wait.address == record.address && wait.process == record.process;
         });
}

std::string sentence(const CallTree& tree, const LockRecord& record, double share) {
  std::string text = fmt::format(
      "Contended lock: threads waited {} ({} of the time in which they worked or waited for locks) for {}",
      format_duration(record.waited_s), format_percent(share), format_lock(tree, record));
  if (!record.declared.empty()) text += fmt::format(" ({})", record.declared);
  const LockSide& waiter = record.waiters.front();
  text += fmt::format(", {}in {}", record.waiters.size() > 1 ? "most " : "",
                      format_code(user_of_lock(tree, waiter.context)));
  if (const LockSide* const holder = main_holder(record))
    text += fmt::format("; {} released it after {} of that", format_code(user_of_lock(tree, holder->context)),
                        format_duration(holder->seconds));
  return text + ".";
}

void add_contexts(const CallTree& tree, const std::vector<LockSide>& sides, const char* role,
                  Finding& finding) {
  for (size_t i = 0; i < std::min(sides.size(), kShownUsers); ++i)
    finding.contexts.push_back({role, frames_of(tree, sides[i].context)});
}

Finding finding_of(const CallTree& tree, const RunSummary& run, const LockRecord& record, double share) {
  Finding finding;
  finding.id = lock_id(tree, run, record);
  finding.kind = FindingKind::Lock;
  finding.severity = severity_of(share, kMediumLockShare, kHighLockShare);
  finding.metric = "LOCK_WAIT";
  finding.cost =
      FindingCost{record.waited_s, "sec", share, "every wait timed; an upper bound of what is saved"};
  finding.saving =
      at_most(record.waited_s, "time of the waiting threads; they may wait for something else then");
  finding.sentence = sentence(tree, record, share);
  add_contexts(tree, record.waiters, "waits", finding);
  add_contexts(tree, record.holders, "releases", finding);
  finding.advice = lock_advice(tree, record);
  finding.values = {{"waits", static_cast<double>(record.waits)},
                    {"longest_s", record.longest_s},
                    {"blamed_s", record.blamed_s}};
  return finding;
}

}  // namespace

std::string lock_id(const CallTree& tree, const RunSummary& run, const LockRecord& record) {
  std::string identity =
      fmt::format("{}\n{}\n{}\n{}\n", record.name, record.declared, name_of(record.kind), record.rank);
  // Locks without a name count as one if they were allocated, or otherwise mostly waited for, at the same
  // place.
  if (record.name.empty())
    identity += identity_of(
        frames_of(tree, record.allocation != 0 ? record.allocation : record.waiters.front().context));
  if (record.allocation != 0) identity += fmt::format("{}\n", record.offset);
  // Process ids differ from run to run: they count only if nothing else distinguishes the processes.
  if (run.processes > std::max<uint64_t>(run.ranks, 1))
    identity += fmt::format("{}\n{}\n", record.host, record.process);
  return finding_id(FindingKind::Lock, record.name.empty() ? name_of(record.kind) : record.name, identity);
}

std::string lock_advice(const CallTree& tree, const LockRecord& record) {
  const std::string lock = format_lock(tree, record);
  if (!main_holder(record) && record.open_s > 0)
    return fmt::format("Find the code that holds {}: it was not released before the process ended.", lock);
  if (!main_holder(record))
    return fmt::format("Find the code that holds {}: prof did not see its release.", lock);
  if (has_one_main_holder(record))
    return fmt::format(
        "Hold {} for less time in {}: move work that does not need it out of the critical section, or "
        "copy the protected data and work on the copy.",
        lock, format_function(user_of_lock(tree, main_holder(record)->context)));
  return fmt::format(
      "Take {} less often, because many call sites hold it for about the same time: give each thread or part "
      "of the data its own lock, or do more work per acquisition.",
      lock);
}

std::vector<Finding> lock_findings(const CallTree& tree, const RunSummary& run) {
  std::vector<Finding> findings;
  for (const LockRecord& record : run.locks.locks) {
    const double share = share_of(record.waited_s, run);
    if (is_in_deadlock(record, run)) continue;
    if (share >= kMinLockShare && record.waited_s >= kMinLockSeconds)
      findings.push_back(finding_of(tree, run, record, share));
  }
  if (const std::optional<std::string> missing = locks_not_followed(tree, run)) {
    Finding finding;
    finding.kind = FindingKind::LocksNotFollowed;
    finding.severity = Severity::Low;
    finding.sentence = *missing + ".";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace prof
