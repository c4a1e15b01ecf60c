#include "analysis/views/compare/run_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/views/compare/moved_lines.h"
#include "analysis/views/tree/function_costs.h"
#include "analysis/views/tree/view.h"

namespace prof {
namespace {

constexpr double kDominating = 0.5;  // of the previous step's loss; no other callee is then as expensive

// The cost of a row in each run.
struct Row {
  uint32_t frame = kNone;
  uint32_t node = kNone;
  SourceLocation location;
  std::vector<Cost> by_run;
};

// Maps the lines of earlier runs to the numbers of the later ones.
class LineNumbers {
 public:
  explicit LineNumbers(const MatchedRuns& runs) : runs_(runs) {}

  uint32_t after(uint32_t file, uint32_t line) {
    const auto [at, is_new] = moved_.try_emplace(file);
    if (is_new && runs_.sources_before[file] && runs_.sources_after[file]) {
      const std::string before = runs_.sources_before[file]->copy(),
                        after = runs_.sources_after[file]->copy();
      if (!before.empty() && !after.empty() && before != after) at->second = moved_lines(before, after);
    }
    return line > 0 && line <= at->second.size() ? at->second[line - 1] : line;
  }

 private:
  const MatchedRuns& runs_;
  std::map<uint32_t, std::vector<uint32_t>> moved_;
};

std::vector<Row> rows_by_function(const CallTree& tree) {
  const std::vector<Cost> costs = function_costs(tree);
  const auto width = static_cast<ptrdiff_t>(tree.metrics());
  std::vector<Row> rows;
  for (uint32_t f = 0; f < tree.frames.size(); ++f) {
    const auto begin = costs.begin() + f * width;
    rows.push_back({f, kNone, {}, {begin, begin + width}});
  }
  return rows;
}

std::vector<Row> rows_by_path(const CallTree& tree) {
  std::vector<Row> rows;
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    std::vector<Cost>& costs = rows.emplace_back(Row{tree.nodes[n].frame, n, {}, {}}).by_run;
    for (size_t m = 0; m < tree.metrics(); ++m) costs.push_back(tree.cost(n, m));
  }
  return rows;
}

SourceLocation line_within_frame(const Database& database, uint32_t context) {
  while (context != kNone) {
    if (const SourceLocation location = location_of(database.contexts[context]); location.known())
      return location;
    if (starts_frame(database.contexts[context])) break;
    context = database.contexts[context].parent;
  }
  return {};
}

std::vector<Row> rows_by_line(const MatchedRuns& runs) {
  const CallTree& tree = runs.tree;
  LineNumbers numbers(runs);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> known;
  std::vector<Row> rows;
  for (uint32_t c = 0; c < runs.database.contexts.size(); ++c) {
    const SourceLocation here = line_within_frame(runs.database, c);
    for (size_t r = 0; r < runs.runs.size(); ++r) {
      const double cost = runs.runs[r].own[c];
      if (cost == 0) continue;
      SourceLocation location = here;
      if (location.known() && !runs.runs[r].is_after)
        location.line = numbers.after(location.file, location.line);
      const uint32_t frame = tree.nodes[tree.node_of[c]].frame;
      const auto [at, is_new] = known.try_emplace({frame, location.file, location.line}, rows.size());
      if (is_new) rows.push_back({frame, kNone, location, std::vector<Cost>(runs.runs.size())});
      rows[at->second].by_run[r].exclusive += cost;
      rows[at->second].by_run[r].inclusive += cost;
    }
  }
  return rows;
}

std::vector<Row> rows_by(const MatchedRuns& runs, ComparedBy by) {
  switch (by) {
    case ComparedBy::Function:
      return rows_by_function(runs.tree);
    case ComparedBy::Path:
      return rows_by_path(runs.tree);
    case ComparedBy::Line:
      return rows_by_line(runs);
  }
  return {};
}

class Comparer {
 public:
  Comparer(const MatchedRuns& runs, const RunChangeOptions& options) : runs_(runs), options_(options) {
    for (const ComparedRun& run : runs.runs) {
      ++(run.is_after ? changes_.runs_after : changes_.runs_before);
      (run.is_after ? changes_.workers_after : changes_.workers_before) = workers_of(run, runs);
      changes_.total.exclusive.before += run.is_after ? 0 : run.total;
    }
    changes_.total.exclusive.before /= static_cast<double>(changes_.runs_before);
    changes_.are_samples_known =
        std::ranges::all_of(runs.runs, [](const ComparedRun& run) { return run.samples > 0; });
    for (const ComparedRun& run : runs.runs) factors_.push_back(factor_of(run));
  }

  RunChanges compare() {
    Row total;
    for (const ComparedRun& run : runs_.runs) total.by_run.push_back({run.total, run.total});
    changes_.total = change_of_row(total);
    changes_.whole =
        options_.scaling == Scaling::None ? changes_.total.exclusive.before : changes_.total.exclusive.after;
    std::vector<Row> rows = rows_by(runs_, options_.by);
    std::erase_if(rows, [&](const Row& row) {
      const Change change = change_of_row(row).exclusive;
      return std::max(change.before, change.after) < least_difference();
    });
    rows.push_back(std::move(total));
    judge_all(rows);
    if (options_.scaling != Scaling::None) follow_loss();
    return std::move(changes_);
  }

 private:
  double least_difference() const { return options_.threshold * changes_.whole; }

  double factor_of(const ComparedRun& run) const {
    if (options_.same_total) return changes_.total.exclusive.before / run.total;
    if (options_.scaling != Scaling::Weak || run.is_after) return 1;
    return static_cast<double>(changes_.workers_after) / static_cast<double>(changes_.workers_before);
  }

  RunChange change_of_row(const Row& row) const {
    RunChange change;
    change.frame = row.frame;
    change.node = row.node;
    change.location = row.location;
    bool was_before = false, was_after = false;
    for (size_t r = 0; r < row.by_run.size(); ++r) {
      const bool is_after = runs_.runs[r].is_after;
      const auto of = static_cast<double>(is_after ? changes_.runs_after : changes_.runs_before);
      const double exclusive = row.by_run[r].exclusive * factors_[r] / of;
      const double inclusive = row.by_run[r].inclusive * factors_[r] / of;
      (is_after ? change.exclusive.after : change.exclusive.before) += exclusive;
      (is_after ? change.inclusive.after : change.inclusive.before) += inclusive;
      (is_after ? was_after : was_before) |= row.by_run[r].inclusive > 0;
    }
    change.presence = was_before == was_after ? Presence::Both
                      : was_before            ? Presence::OnlyBefore
                                              : Presence::OnlyAfter;
    return change;
  }

  RowOfRuns costs_to_judge(const Row& row) const {
    RowOfRuns costs;
    for (size_t r = 0; r < row.by_run.size(); ++r) {
      const ComparedRun& run = runs_.runs[r];
      (run.is_after ? costs.after : costs.before)
          .push_back(
              sampled_cost(row.by_run[r].exclusive * factors_[r], run.total * factors_[r], run.samples));
    }
    return costs;
  }

  // The last row is the total.
  void judge_all(const std::vector<Row>& rows) {
    std::vector<RowOfRuns> costs;
    for (const Row& row : rows) costs.push_back(costs_to_judge(row));
    // Totals that were made equal show nothing.
    if (options_.same_total) costs.pop_back();
    const Judgement judgement = judge(costs);
    changes_.run_to_run = judgement.run_to_run;
    changes_.judged = judgement.rows.size();
    for (size_t i = 0; i < judgement.rows.size(); ++i) {
      RunChange change = change_of_row(rows[i]);
      change.share = change.exclusive.difference() / changes_.whole;
      change.significance = judgement.rows[i];
      if (i + 1 == rows.size())
        changes_.total = change;
      else if (!change.exclusive.is_same() && std::abs(change.share) >= options_.threshold)
        changes_.rows.push_back(change);
    }
    std::stable_sort(changes_.rows.begin(), changes_.rows.end(), [](const RunChange& a, const RunChange& b) {
      return std::abs(a.exclusive.difference()) > std::abs(b.exclusive.difference());
    });
    add_places();
  }

  // Shows functions and paths at their most expensive line, in the later run if they occur there.
  void add_places() {
    if (options_.by == ComparedBy::Line || changes_.rows.empty()) return;
    const NodeContexts contexts(runs_.tree);
    const FrameInstances instances = instances_of_frames(runs_.tree);
    for (RunChange& change : changes_.rows) {
      const uint32_t *begin = &change.node, *end = begin + 1;
      if (change.node == kNone) {
        begin = instances.nodes.data() + instances.first[change.frame];
        end = instances.nodes.data() + instances.first[change.frame + 1];
      }
      change.location = heaviest_line(runs_.tree, contexts, {begin, end}, change.frame, LineWeight::Exclusive,
                                      run_to_show(change.presence != Presence::OnlyBefore))
                            .location;
    }
  }
  size_t run_to_show(bool is_after) const {
    const auto at = std::ranges::find(runs_.runs, is_after, &ComparedRun::is_after);
    return static_cast<size_t>(at - runs_.runs.begin());
  }

  double loss_of(uint32_t node) const {
    double loss = 0;
    for (size_t r = 0; r < runs_.runs.size(); ++r) {
      const double cost = runs_.tree.cost(node, r).inclusive * factors_[r];
      loss += runs_.runs[r].is_after ? cost / static_cast<double>(changes_.runs_after)
                                     : -cost / static_cast<double>(changes_.runs_before);
    }
    return loss;
  }

  void follow_loss() {
    const std::vector<CallNode>& nodes = runs_.tree.nodes;
    double least = std::max(changes_.total.exclusive.difference() * kDominating, least_difference());
    for (uint32_t begin = 0, end = static_cast<uint32_t>(nodes.size()); begin < end;) {
      uint32_t worst = kNone;
      for (uint32_t n = begin; n < end; n = nodes[n].end)
        if (worst == kNone || loss_of(n) > loss_of(worst)) worst = n;
      if (worst == kNone || loss_of(worst) < least) break;
      changes_.path_of_loss.push_back(worst);
      least = std::max(loss_of(worst) * kDominating, least_difference());
      begin = worst + 1;
      end = nodes[worst].end;
    }
  }

  const MatchedRuns& runs_;
  const RunChangeOptions& options_;
  std::vector<double> factors_;  // per run
  RunChanges changes_;
};

}  // namespace

uint64_t workers_of(const ComparedRun& run, const MatchedRuns& runs) {
  const bool are_ranked =
      std::ranges::any_of(runs.runs, [](const ComparedRun& other) { return other.ranks > 1; });
  return std::max<uint64_t>(are_ranked ? run.ranks : run.threads, 1);
}

RunChanges find_changes(const MatchedRuns& runs, const RunChangeOptions& options) {
  return Comparer(runs, options).compare();
}

}  // namespace prof
