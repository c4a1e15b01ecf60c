#include "prof/commands/diff.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/views/compare/format_run_changes.h"
#include "analysis/views/compare/matched_runs.h"
#include "analysis/views/tree/selection.h"
#include "prof/base/message.h"
#include "prof/base/quiet.h"
#include "prof/base/terminal.h"
#include "prof/report/diff_report.h"
#include "prof/report/report_command.h"
#include "prof/results/databases.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// Splits a comma-separated list of runs, unless a file of exactly this name exists.
std::vector<std::string> runs_named(const std::string& text) {
  std::error_code missing;
  if (text.empty()) return {};
  if (fs::exists(text, missing)) return {text};
  std::vector<std::string> runs;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) runs.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return runs;
}

void require_each_once(const std::vector<std::string>& runs) {
  std::vector<fs::path> known;
  for (const std::string& run : runs) {
    std::error_code missing;
    fs::path path = fs::weakly_canonical(run, missing);
    if (path.filename() == "database") path = path.parent_path();  // the database of a measurement directory
    if (std::ranges::find(known, path) != known.end())
      fail(kOwnFailure, "{} is listed twice on one side; list each run once", run);
    known.push_back(path);
  }
}

struct Sides {
  std::vector<std::string> before, after;
};

Sides sides_of(const DiffOptions& options) {
  const bool has_words = !options.before.empty() || !options.after.empty();
  const bool has_lists = !options.before_runs.empty() || !options.after_runs.empty();
  if (has_words && has_lists)
    fail(kOwnFailure,
         "runs are given twice: use either BEFORE AFTER, or --before and --after; see prof diff --help");
  Sides sides{has_lists ? options.before_runs : runs_named(options.before),
              has_lists ? options.after_runs : runs_named(options.after)};
  if (sides.before.empty() || sides.after.empty())
    fail(kOwnFailure,
         "runs are missing: prof diff compares runs before with runs after; see prof diff --help");
  require_each_once(sides.before);
  require_each_once(sides.after);
  return sides;
}

void add_runs(RunMatcher& matcher, const std::vector<std::string>& runs, bool is_after) {
  for (const std::string& run : runs) {
    const Database database = open_database(run, ReadValues::WhenAskedFor);
    try {
      matcher.add(database, run, run, is_after);
    } catch (const SelectionError& error) {
      fail(kOwnFailure, "{}: {}", run, error.what());
    }
  }
}

void require_costs(const MatchedRuns& runs) {
  for (const ComparedRun& run : runs.runs)
    if (run.total <= 0)
      fail(kOwnFailure, "{} has no {}; measure it for longer, or compare another --metric", run.name,
           runs.what().name);
}

void remark_on_programs(const MatchedRuns& runs) {
  const auto other = std::ranges::find_if(
      runs.runs, [&](const ComparedRun& run) { return run.title != runs.runs.front().title; });
  if (other != runs.runs.end())
    remark("{} is a run of {}, {} a run of {}: functions, call paths and lines are matched by name",
           runs.runs.front().name, runs.runs.front().title, other->name, other->title);
}

void require_scales(const MatchedRuns& runs) {
  const ComparedRun& first = runs.runs.front();
  uint64_t before = 0, after = 0;
  for (const ComparedRun& run : runs.runs) {
    uint64_t& workers = run.is_after ? after : before;
    const uint64_t own = workers_of(run, runs);
    if (workers != 0 && workers != own)
      fail(kOwnFailure, "{} has {}, other runs of its side have {}; use runs of equal size on each side",
           run.name, format_workers(runs, own), workers);
    workers = own;
  }
  if (before == after)
    fail(kOwnFailure, "{} has {}, and so have the runs after; --scaling compares runs of different size",
         first.name, format_workers(runs, before));
}

int compare(const DiffOptions& options) {
  const bool scales = options.changes.scaling != Scaling::None;
  if (scales && options.fail_percent)
    fail(kOwnFailure, "--fail-on-regress compares versions, --scaling compares sizes; leave one of them out");
  if (scales && options.changes.same_total)
    fail(kOwnFailure, "--same-total hides what --scaling measures; leave one of them out");
  const Sides sides = sides_of(options);
  RunMatcher matcher(options.metric);
  add_runs(matcher, sides.before, false);
  add_runs(matcher, sides.after, true);
  MatchedRuns runs;
  matcher.finish(runs);
  require_costs(runs);
  remark_on_programs(runs);
  if (scales) require_scales(runs);
  return diff(runs, options, stdout, wants_colour(stdout));
}

}  // namespace

void add_diff_command(CLI::App& app, int& status) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Compare runs: what changed, and what does not scale");
  add_diff_options(*command, *options);
  add_quiet_option(*command);
  command->callback([options, &status] { status = compare(*options); });
}

}  // namespace prof
