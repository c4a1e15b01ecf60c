#include "analysis/views/run_changes_in_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views/comparison_in_words.h"
#include "analysis/views/finding_id.h"
#include "analysis/views/short_names.h"
#include "analysis/views/wording.h"

namespace prof {
namespace {

constexpr double kLeastP = 1e-4;     // smaller ones say no more
constexpr size_t kNameColumns = 48;  // a sentence stays readable
constexpr size_t kCallersNamed = 3;  // the nearest ones; JSON has them all
constexpr double kHighShare = 0.1;   // of the total
constexpr double kMediumShare = 0.05;

std::string name_of(const MatchedRuns& runs, uint32_t frame) {
  return frame_name(runs.database, runs.tree.frames[frame]);
}

std::string runs_in_words(size_t count) {
  return count == 1 ? "one run" : fmt::format("{} runs", count);
}

std::string share_of_whole(const RunChanges& changes, const RunChange& change) {
  return words_for_percent(std::abs(change.exclusive.difference()) / changes.whole);
}

std::string probability(const RunChange& change) {
  return words_for_p(change.significance.adjusted);
}

std::string sentence_of(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change,
                        Scaling scaling) {
  const Metric& what = runs.what();
  const std::string row = words_for_row(runs, change, kNameColumns);
  const std::string share = share_of_whole(changes, change);
  const std::string certainty = fmt::format("({}, {})", probability(change), words_for_sides(changes));
  const std::string after = words_for_amount(what, change.exclusive.after);
  if (scaling != Scaling::None)
    return fmt::format("{} takes {} on {} where {} {} expected: {} of {} there is {} {}", row, after,
                       words_for_workers(runs, changes.workers_after),
                       words_for_amount(what, change.exclusive.before), is_time(what) ? "was" : "were", share,
                       words_for_metric(what), change.exclusive.difference() > 0 ? "lost" : "gained",
                       certainty);
  if (change.presence == Presence::OnlyAfter)
    return fmt::format("{} is new and takes {}: {} of all before {}", row, after, share, certainty);
  if (change.presence == Presence::OnlyBefore)
    return fmt::format("{} is gone and took {}: {} of all before {}", row,
                       words_for_amount(what, change.exclusive.before), share, certainty);
  return fmt::format("{} takes {}: {} of all before {}", row, words_for_change(what, change.exclusive), share,
                     certainty);
}

FindingFrame finding_frame(const MatchedRuns& runs, uint32_t frame, const Place& place) {
  FindingFrame result;
  result.function = name_of(runs, frame);
  if (place.file < runs.database.files.size()) {
    result.file = runs.database.files[place.file].path;
    result.line = place.line;
  }
  if (const uint32_t module = runs.tree.frames[frame].module; module < runs.database.modules.size())
    result.module = runs.database.modules[module].path;
  return result;
}

Finding finding_of(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change,
                   Scaling scaling) {
  const bool is_more = change.exclusive.difference() > 0;
  Finding finding;
  finding.kind = !is_more                   ? FindingKind::Improvement
                 : scaling == Scaling::None ? FindingKind::Regression
                                            : FindingKind::ScalingLoss;
  const std::string row = words_for_row(runs, change, 0);
  finding.id = finding_id(finding.kind, row, row);
  const double share = std::abs(change.share);
  finding.severity = !is_more || share < kMediumShare ? Severity::Low
                     : share < kHighShare             ? Severity::Medium
                                                      : Severity::High;
  finding.metric = runs.what().name;
  finding.cost =
      FindingCost{change.exclusive.difference(), runs.what().unit, change.share,
                  scaling == Scaling::None ? "mean after less mean before"
                                           : "mean after less what is expected of the runs before"};
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

std::string words_for_row(const MatchedRuns& runs, const RunChange& change, size_t columns) {
  if (change.frame == kNone) return "all of the run";
  const std::vector<FindingFrame> frames = frames_of_row(runs, change);
  const auto fitted = [&](const std::string& name) {
    return columns == 0 ? name : shorten_name(name, columns);
  };
  std::string words = fitted(frames.front().function);
  std::string at = words_for_place(runs.database, change.place);
  if (at.empty()) at = words_for_module(runs.database, runs.tree.frames[change.frame]);
  if (!at.empty()) words += " (" + at + ")";
  for (size_t i = 1; i < frames.size() && i <= kCallersNamed; ++i)
    words += " <- " + fitted(frames[i].function);
  return frames.size() > kCallersNamed + 1 ? words + " <- ..." : words;
}

std::string bound_in_words(double p) {
  return p < kLeastP ? fmt::format("< {}", kLeastP) : fmt::format("{:.2g}", p);
}

std::string words_for_p(double p) {
  return fmt::format("p {}{}", p < kLeastP ? "" : "= ", bound_in_words(p));
}

std::string words_for_sides(const RunChanges& changes) {
  if (changes.runs_before == changes.runs_after) return runs_in_words(changes.runs_before) + " a side";
  const std::string after = changes.runs_after == 1 ? "one" : std::to_string(changes.runs_after);
  return fmt::format("{} before, {} after", runs_in_words(changes.runs_before), after);
}

std::string words_for_workers(const MatchedRuns& runs, uint64_t workers) {
  const bool are_ranked =
      std::ranges::any_of(runs.runs, [](const ComparedRun& run) { return run.ranks > 1; });
  return words_for_count(workers, are_ranked ? "rank" : "thread");
}

std::string total_in_words(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  const RunChange& total = changes.total;
  std::string words = words_for_change(runs.what(), total.exclusive);
  if (scaling != Scaling::None) words += " than expected";
  // Totals that were made equal were not judged.
  return total.exclusive.is_same() ? words : fmt::format("{}, {}", words, probability(total));
}

std::string judgement_in_words(const RunChanges& changes) {
  std::string words = fmt::format("{}: ", words_for_sides(changes));
  if (changes.run_to_run.is_measured && std::min(changes.runs_before, changes.runs_after) < kRunsThatTell)
    words += fmt::format(
        "they are taken to differ by {} beyond what samples explain; three runs a side or more "
        "tell",
        words_for_percent(changes.run_to_run.deviation));
  else if (changes.run_to_run.is_measured)
    words += fmt::format("they differ by {} beyond what samples explain",
                         words_for_percent(changes.run_to_run.deviation));
  else
    words += fmt::format(
        "how much runs differ by themselves is not measured, {} is assumed; three runs a "
        "side or more tell",
        words_for_percent(changes.run_to_run.deviation));
  if (!changes.are_samples_known) words += "; the number of samples is not known, costs were taken for exact";
  return words;
}

std::string scaling_in_words(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  const double efficiency = changes.total.exclusive.before / changes.total.exclusive.after;
  return fmt::format("{} scaling from {} to {}: {} efficient", scaling == Scaling::Strong ? "strong" : "weak",
                     changes.workers_before, words_for_workers(runs, changes.workers_after),
                     words_for_percent(efficiency));
}

std::string regression_line(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change) {
  const Change& cost = change.exclusive;
  const std::string before = words_for_amount(runs.what(), cost.before);
  const std::string after = words_for_amount(runs.what(), cost.after);
  const std::string ratio = change.presence == Presence::OnlyAfter || cost.before <= 0
                                ? std::string("new")
                                : fmt::format("+{:.1f} %", cost.difference() / cost.before * 100);
  return fmt::format("regression: {} {} ({} -> {}, {}, {})", words_for_row(runs, change, kNameColumns), ratio,
                     before, after, words_for_sides(changes), probability(change));
}

std::vector<Finding> change_findings(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  std::vector<Finding> findings;
  for (const RunChange& change : changes.rows)
    if (change.is_significant()) findings.push_back(finding_of(runs, changes, change, scaling));
  // That the whole is slower says less than where.
  if (changes.total.is_significant()) findings.push_back(finding_of(runs, changes, changes.total, scaling));
  return findings;
}

std::vector<FindingFrame> frames_of_row(const MatchedRuns& runs, const RunChange& change) {
  std::vector<FindingFrame> frames = {finding_frame(runs, change.frame, change.place)};
  if (change.node == kNone) return frames;
  for (uint32_t node = runs.tree.nodes[change.node].parent; node != kNone;
       node = runs.tree.nodes[node].parent) {
    const uint32_t frame = runs.tree.nodes[node].frame;
    if (runs.tree.frames[frame].kind != FrameKind::Entry)
      frames.push_back(finding_frame(runs, frame, definition(runs.tree.frames[frame])));
  }
  return frames;
}

}  // namespace prof
