#include "analysis/findings/idle_threads.h"

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

// Shares of the time in which threads worked, or were idle while other threads worked.
constexpr double kMinIdleShare = 0.05, kMediumIdleShare = 0.20, kHighIdleShare = 0.50;
constexpr double kMinIdleSeconds = 1e-3;
constexpr size_t kShownWaits = 4;

double blame_of(const RunSummary& run) {
  double blame = 0;
  for (const IdleRecord& record : run.locks.idle) blame += record.seconds;
  return blame;
}

// Prefers other waits: a thread that waits for the end of another one often has nothing to do.
std::vector<const BlockedRecord*> telling_waits(const RunSummary& run) {
  std::vector<const BlockedRecord*> waits;
  for (const BlockedRecord& record : run.locks.blocked) waits.push_back(&record);
  std::stable_partition(waits.begin(), waits.end(),
                        [](const BlockedRecord* one) { return one->kind != WaitedFor::EndOfThread; });
  return waits;
}

// libc calls its functions by names of its own as well.
std::string format_idle_call(const BlockedRecord& wait, const std::vector<CodeFrame>& frames) {
  if (frames.empty()) return std::string(name_of(wait.kind));
  const std::string& name = frames.front().function;
  const size_t begin = name.find_first_not_of('_');
  return begin == name.npos ? name : name.substr(begin);
}

std::string sentence(const CallTree& tree, const RunSummary& run, const WorkWhileIdle& work) {
  std::string text =
      fmt::format("Idle threads: {} for others while {} worked, {} in all", format_idle(work),
                  format_code(program_part(frames_of(tree, work.context))), format_duration(work.seconds));
  if (const std::vector<const BlockedRecord*> waits = telling_waits(run); !waits.empty()) {
    const std::vector<CodeFrame> call = frames_of(tree, waits.front()->context);
    text += fmt::format("; most at {} in {}", format_idle_call(*waits.front(), call),
                        format_code(user_of_lock(tree, waits.front()->context)));
  }
  return text + ".";
}

Finding finding_of(const CallTree& tree, const RunSummary& run, const WorkWhileIdle& work, double share) {
  Finding finding;
  finding.id = idle_id(tree, work);
  finding.kind = FindingKind::IdleThreads;
  finding.severity = severity_of(share, kMediumIdleShare, kHighIdleShare);
  finding.metric = "IDLE_BLAME";
  finding.cost = FindingCost{work.seconds, "sec", share, "sampled; an upper bound of what is saved"};
  finding.saving = at_most(work.seconds, "time of the waiting threads, if others did all of this work");
  finding.sentence = sentence(tree, run, work);
  const std::vector<CodeFrame> frames = frames_of(tree, work.context);
  finding.contexts.push_back({"works", frames});
  const std::vector<const BlockedRecord*> waits = telling_waits(run);
  for (size_t i = 0; i < std::min(waits.size(), kShownWaits); ++i)
    finding.contexts.push_back({"waits", frames_of(tree, waits[i]->context)});
  finding.advice = fmt::format(
      "Divide the work of {} among the waiting threads, or give them work that does not need its result.",
      format_function(program_part(frames)));
  finding.values = {
      {"cpu_s", work.cpu_s}, {"idle_threads", work.idle_threads}, {"working_threads", work.working_threads}};
  return finding;
}

}  // namespace

std::string idle_id(const CallTree& tree, const WorkWhileIdle& work) {
  return finding_id(FindingKind::IdleThreads, frames_of(tree, work.context));
}

std::vector<Finding> idle_findings(const CallTree& tree, const RunSummary& run) {
  std::vector<Finding> findings;
  const double whole = run.cpu_s.value_or(0) + blame_of(run);
  for (const WorkWhileIdle& work : work_while_idle(tree, run)) {
    if (whole <= 0 || work.seconds <= work.cpu_s || work.seconds < kMinIdleSeconds) continue;
    const double share = std::min(1.0, work.seconds / whole);
    if (share >= kMinIdleShare) findings.push_back(finding_of(tree, run, work, share));
  }
  return findings;
}

}  // namespace prof
