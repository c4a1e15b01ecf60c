#include "analysis/findings/run_changes.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/views/compare/format_comparison.h"
#include "analysis/views/compare/format_run_changes.h"
#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

constexpr double kMediumChange = 0.05, kHighChange = 0.10;  // of the total

std::string share_of_whole(const RunChanges& changes, const RunChange& change) {
  return format_percent(std::abs(change.exclusive.difference()) / changes.whole);
}

std::string sentence_of(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change,
                        Scaling scaling) {
  const Metric& what = runs.what();
  const std::string row = format_row(runs, change, kSentenceColumns);
  const std::string share = share_of_whole(changes, change);
  const std::string certainty =
      fmt::format("({}, {})", format_p_value(change.significance.adjusted), format_sides(changes));
  const std::string after = format_amount(what, change.exclusive.after);
  if (scaling != Scaling::None)
    return fmt::format("{} takes {} on {} where {} {} expected: {} of {} there is {} {}", row, after,
                       format_workers(runs, changes.workers_after),
                       format_amount(what, change.exclusive.before), is_time(what) ? "was" : "were", share,
                       format_metric(what), change.exclusive.difference() > 0 ? "lost" : "gained", certainty);
  if (change.presence == Presence::OnlyAfter)
    return fmt::format("{} is new and takes {}: {} of the total before {}", row, after, share, certainty);
  if (change.presence == Presence::OnlyBefore)
    return fmt::format("{} is gone and took {}: {} of the total before {}", row,
                       format_amount(what, change.exclusive.before), share, certainty);
  return fmt::format("{} takes {}: {} of the total before {}", row, format_change(what, change.exclusive),
                     share, certainty);
}

Finding finding_of(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change,
                   Scaling scaling) {
  const bool is_more = change.exclusive.difference() > 0;
  Finding finding;
  finding.kind = !is_more                   ? FindingKind::Improvement
                 : scaling == Scaling::None ? FindingKind::Regression
                                            : FindingKind::ScalingLoss;
  const std::string row = format_row(runs, change, 0);
  finding.id = finding_id(finding.kind, row, row);
  const double share = std::abs(change.share);
  finding.severity = is_more ? severity_of(share, kMediumChange, kHighChange) : Severity::Low;
  finding.metric = runs.what().name;
  finding.cost =
      FindingCost{change.exclusive.difference(), runs.what().unit, change.share,
                  scaling == Scaling::None ? "mean after minus mean before"
                                           : "mean after minus the value expected from the runs before"};
  finding.sentence = sentence_of(runs, changes, change, scaling);
  if (change.frame != kNone) finding.contexts = {{"changed", frames_of_row(runs, change)}};
  finding.values = {{"before", change.exclusive.before},
                    {"after", change.exclusive.after},
                    {"p", change.significance.p},
                    {"p_adjusted", change.significance.adjusted},
                    {"runs_before", static_cast<double>(changes.runs_before)},
                    {"runs_after", static_cast<double>(changes.runs_after)}};
  return finding;
}

}  // namespace

std::vector<Finding> change_findings(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  std::vector<Finding> findings;
  for (const RunChange& change : changes.rows)
    if (change.is_significant()) findings.push_back(finding_of(runs, changes, change, scaling));
  // A change of the whole run shows less than one of its parts.
  if (changes.total.is_significant()) findings.push_back(finding_of(runs, changes, changes.total, scaling));
  return findings;
}

}  // namespace prof
