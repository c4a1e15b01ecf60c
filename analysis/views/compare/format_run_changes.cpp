#include "analysis/views/compare/format_run_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views/compare/format_comparison.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"

namespace prof {
namespace {

constexpr double kMinP = 1e-4;       // smaller ones are shown as less
constexpr size_t kCallersNamed = 3;  // the innermost ones; JSON has them all

std::string format_runs(size_t count) {
  return count == 1 ? "one run" : fmt::format("{} runs", count);
}

}  // namespace

std::string format_row(const MatchedRuns& runs, const RunChange& change, size_t columns) {
  if (change.frame == kNone) return "the whole run";
  const std::vector<CodeFrame> frames = frames_of_row(runs, change);
  const auto fitted = [&](const std::string& name) {
    return columns == 0 ? name : shorten_name(name, columns);
  };
  std::string words = fitted(frames.front().function);
  std::string at = format_location(runs.database, change.location);
  if (at.empty()) at = format_module(runs.database, runs.tree.frames[change.frame]);
  if (!at.empty()) words += " (" + at + ")";
  for (size_t i = 1; i < frames.size() && i <= kCallersNamed; ++i)
    words += " <- " + fitted(frames[i].function);
  return frames.size() > kCallersNamed + 1 ? words + " <- ..." : words;
}

std::string format_bound(double p) {
  return p < kMinP ? fmt::format("< {}", kMinP) : fmt::format("{:.2g}", p);
}

std::string format_p_value(double p) {
  return fmt::format("p {}{}", p < kMinP ? "" : "= ", format_bound(p));
}

std::string format_sides(const RunChanges& changes) {
  if (changes.runs_before == changes.runs_after) return format_runs(changes.runs_before) + " per side";
  const std::string after = changes.runs_after == 1 ? "one" : std::to_string(changes.runs_after);
  return fmt::format("{} before, {} after", format_runs(changes.runs_before), after);
}

std::string format_workers(const MatchedRuns& runs, uint64_t workers) {
  const bool are_ranked =
      std::ranges::any_of(runs.runs, [](const ComparedRun& run) { return run.ranks > 1; });
  return format_count(workers, are_ranked ? "rank" : "thread");
}

std::string format_total_change(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  const RunChange& total = changes.total;
  std::string words = format_change(runs.what(), total.exclusive);
  if (scaling != Scaling::None) words += " than expected";
  // Totals that were made equal are not judged.
  return total.exclusive.is_same()
             ? words
             : fmt::format("{}, {}", words, format_p_value(total.significance.adjusted));
}

std::string format_judgement(const RunChanges& changes) {
  std::string words = fmt::format("{}: ", format_sides(changes));
  if (changes.run_to_run.is_measured && std::min(changes.runs_before, changes.runs_after) < kRunsThatTell)
    words +=
        fmt::format("runs are assumed to differ by {} beyond sampling noise; use three or more runs per side",
                    format_percent(changes.run_to_run.deviation));
  else if (changes.run_to_run.is_measured)
    words +=
        fmt::format("runs differ by {} beyond sampling noise", format_percent(changes.run_to_run.deviation));
  else
    words += fmt::format(
        "the variation between runs is not measured, {} is assumed; use three or more runs per side",
        format_percent(changes.run_to_run.deviation));
  if (!changes.are_samples_known)
    words += "; the number of samples is not known, so costs were treated as exact";
  return words;
}

std::string format_scaling(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  const double efficiency = changes.total.exclusive.before / changes.total.exclusive.after;
  return fmt::format("{} scaling from {} to {}: {} efficient", scaling == Scaling::Strong ? "strong" : "weak",
                     changes.workers_before, format_workers(runs, changes.workers_after),
                     format_percent(efficiency));
}

std::string regression_line(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change) {
  const Change& cost = change.exclusive;
  const std::string before = format_amount(runs.what(), cost.before);
  const std::string after = format_amount(runs.what(), cost.after);
  const std::string ratio = change.presence == Presence::OnlyAfter || cost.before <= 0
                                ? std::string("new")
                                : fmt::format("+{:.1f} %", cost.difference() / cost.before * 100);
  return fmt::format("regression: {} {} ({} -> {}, {}, {})", format_row(runs, change, kSentenceColumns),
                     ratio, before, after, format_sides(changes),
                     format_p_value(change.significance.adjusted));
}

std::vector<CodeFrame> frames_of_row(const MatchedRuns& runs, const RunChange& change) {
  std::vector<CodeFrame> frames = {code_frame(runs.tree, change.frame, change.location)};
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
