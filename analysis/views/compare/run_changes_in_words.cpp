#include "analysis/views/compare/run_changes_in_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views/compare/comparison_in_words.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"

namespace prof {
namespace {

constexpr double kLeastP = 1e-4;     // smaller ones say no more
constexpr size_t kCallersNamed = 3;  // the nearest ones; JSON has them all

std::string runs_in_words(size_t count) {
  return count == 1 ? "one run" : fmt::format("{} runs", count);
}

}  // namespace

std::string words_for_row(const MatchedRuns& runs, const RunChange& change, size_t columns) {
  if (change.frame == kNone) return "the whole run";
  const std::vector<CodeFrame> frames = frames_of_row(runs, change);
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
  if (changes.runs_before == changes.runs_after) return runs_in_words(changes.runs_before) + " per side";
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
  return total.exclusive.is_same() ? words
                                   : fmt::format("{}, {}", words, words_for_p(total.significance.adjusted));
}

std::string judgement_in_words(const RunChanges& changes) {
  std::string words = fmt::format("{}: ", words_for_sides(changes));
  if (changes.run_to_run.is_measured && std::min(changes.runs_before, changes.runs_after) < kRunsThatTell)
    words +=
        fmt::format("runs are assumed to differ by {} beyond sampling noise; use three or more runs per side",
                    words_for_percent(changes.run_to_run.deviation));
  else if (changes.run_to_run.is_measured)
    words += fmt::format("runs differ by {} beyond sampling noise",
                         words_for_percent(changes.run_to_run.deviation));
  else
    words += fmt::format(
        "the variation between runs is not measured, {} is assumed; use three or more runs per side",
        words_for_percent(changes.run_to_run.deviation));
  if (!changes.are_samples_known)
    words += "; the number of samples is not known, so costs were treated as exact";
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
  return fmt::format("regression: {} {} ({} -> {}, {}, {})", words_for_row(runs, change, kSentenceColumns),
                     ratio, before, after, words_for_sides(changes),
                     words_for_p(change.significance.adjusted));
}

std::vector<CodeFrame> frames_of_row(const MatchedRuns& runs, const RunChange& change) {
  std::vector<CodeFrame> frames = {code_frame(runs.tree, change.frame, change.place)};
  if (change.node == kNone) return frames;
  for (uint32_t node = runs.tree.nodes[change.node].parent; node != kNone;
       node = runs.tree.nodes[node].parent) {
    const uint32_t frame = runs.tree.nodes[node].frame;
    if (runs.tree.frames[frame].kind != FrameKind::Entry)
      frames.push_back(code_frame(runs.tree, frame, definition(runs.tree.frames[frame])));
  }
  return frames;
}

}  // namespace prof
