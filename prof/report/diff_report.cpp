#include "prof/report/diff_report.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/findings/finding_json.h"
#include "analysis/findings/run_changes.h"
#include "analysis/views/compare/format_comparison.h"
#include "analysis/views/compare/format_run_changes.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/words/numbers.h"
#include "analysis/words/short_names.h"
#include "prof/base/choice.h"
#include "prof/report/output.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kProseColumns = 100;  // fits a screen and a mail
constexpr size_t kHeadColumns = 10;    // "CPUTIME   "
constexpr size_t kCostColumns = 11;
constexpr size_t kRatioColumns = 10;
constexpr size_t kChangeColumns = 10;
constexpr size_t kProbabilityColumns = 9;
constexpr size_t kFunctionColumns = 60;  // of a function in a row; JSON has the whole name

const std::map<std::string, ComparedBy> kKinds = {
    {"function", ComparedBy::Function}, {"path", ComparedBy::Path}, {"line", ComparedBy::Line}};
const std::map<std::string, Scaling> kScalings = {{"strong", Scaling::Strong}, {"weak", Scaling::Weak}};
const std::map<std::string, DiffFormat> kFormats = {{"text", DiffFormat::Text}, {"json", DiffFormat::Json}};

const char* kind_name(ComparedBy by) {
  for (const auto& [name, value] : kKinds)
    if (value == by) return name.c_str();
  return "";
}

using Rows = std::vector<const RunChange*>;

// Determines whether the cost rose or fell by more than chance.
enum class Verdict : uint8_t { More, Less, Chance };

Verdict verdict_of(const RunChange& change) {
  if (!change.is_significant()) return Verdict::Chance;
  return change.exclusive.difference() > 0 ? Verdict::More : Verdict::Less;
}

class DiffText {
 public:
  DiffText(const MatchedRuns& runs, const RunChanges& changes, const DiffOptions& options, TextStyle style,
           Output& out)
      : runs_(runs), changes_(changes), options_(options), style_(style), out_(out) {}

  void write() {
    const bool scales = options_.changes.scaling != Scaling::None;
    if (scales) write_head("scaling", format_scaling(runs_, changes_, options_.changes.scaling));
    write_head(runs_.what().name, format_total_change(runs_, changes_, options_.changes.scaling));
    write_head("before", runs_of(false));
    write_head("after", runs_of(true));
    write_head("certainty", format_judgement(changes_));
    if (options_.changes.same_total)
      write_head("totals", "costs of each run are scaled to the total of the runs before");
    write_rows(scales ? "lost" : "regressions", Verdict::More);
    write_rows(scales ? "gained" : "improvements", Verdict::Less);
    write_rows("within noise", Verdict::Chance);
    if (changes_.rows.empty())
      out_.print("\nno {} differs by {} of the total or more\n", kind_name(options_.changes.by),
                 format_percent(options_.changes.threshold));
    if (scales) write_path_of_loss();
  }

 private:
  void write_head(const std::string& name, const std::string& text) {
    out_.write(
        wrapped_behind(fmt::format("{:<{}}", name, std::max(kHeadColumns, name.size() + 1)), text, style_));
  }

  std::string runs_of(bool is_after) const {
    std::vector<std::string> names;
    std::string title;
    for (const ComparedRun& run : runs_.runs) {
      if (run.is_after != is_after) continue;
      names.push_back(run.name);
      title = run.title;
    }
    return fmt::format("{} of {}: {}", format_count(names.size(), "run"), title.empty() ? "a program" : title,
                       fmt::join(names, ", "));
  }

  void write_rows(const char* title, Verdict verdict) {
    Rows rows;
    for (const RunChange& change : changes_.rows)
      if (verdict_of(change) == verdict) rows.push_back(&change);
    if (rows.empty()) return;
    out_.print("\n{}\n", bold(style_, title));
    const bool scales = options_.changes.scaling != Scaling::None;
    out_.print("{:>{}}{:>{}}{:>{}}{:>{}}{:>{}}{:>{}}  {}\n", scales ? "expected" : "before", kCostColumns,
               "after", kCostColumns, "difference", kCostColumns + 1, "", kRatioColumns, "of total",
               kChangeColumns, "p", kProbabilityColumns, kind_name(options_.changes.by));
    const size_t shown = std::min<size_t>(rows.size(), options_.limit);
    for (size_t i = 0; i < shown; ++i) write_row(*rows[i], verdict);
    if (shown < rows.size())
      out_.print("{:>{}}and {} more: --limit={}, or --format=json\n", "", kHeadColumns, rows.size() - shown,
                 rows.size());
  }

  void write_row(const RunChange& change, Verdict verdict) {
    const Metric& what = runs_.what();
    const std::string share = fmt::format("{:+.1f} %", change.share * 100);
    const std::string p = format_bound(change.significance.adjusted);
    const std::string padded = fmt::format("{:>{}}", share, kChangeColumns);
    const std::string name = printable(format_row(runs_, change, kFunctionColumns));
    out_.print(
        "{:>{}}{:>{}}{:>{}}{:>{}}{}{:>{}}  {}\n", format_amount(what, change.exclusive.before), kCostColumns,
        format_amount(what, change.exclusive.after), kCostColumns, format_difference(what, change.exclusive),
        kCostColumns + 1, format_ratio(change.exclusive, change.presence), kRatioColumns,
        verdict == Verdict::More ? heat(style_, change.share, padded) : padded, p, kProbabilityColumns, name);
  }

  void write_path_of_loss() {
    if (changes_.path_of_loss.empty()) return;
    std::string path;
    for (const uint32_t node : changes_.path_of_loss) {
      const Frame& frame = runs_.tree.frames[runs_.tree.nodes[node].frame];
      if (frame.kind == FrameKind::Entry) continue;
      path +=
          (path.empty() ? "" : " -> ") + shorten_name(frame_name(runs_.database, frame), kFunctionColumns);
    }
    if (path.empty()) return;
    out_.print("\n{}\n{}", bold(style_, "most of the loss is along"), wrapped_behind("  ", path, style_));
  }

  const MatchedRuns& runs_;
  const RunChanges& changes_;
  const DiffOptions& options_;
  const TextStyle style_;
  Output& out_;
};

Json change_as_json(const Change& change) {
  return {{"before", change.before}, {"after", change.after}, {"difference", change.difference()}};
}

Json row_as_json(const RunChange& change) {
  Json json{{"exclusive", change_as_json(change.exclusive)}};
  json["inclusive"] = change_as_json(change.inclusive);
  json["share_of_total"] = change.share;
  json["p"] = change.significance.p;
  json["p_adjusted"] = change.significance.adjusted;
  json["significant"] = change.is_significant();
  return json;
}

Json side_as_json(const MatchedRuns& runs, bool is_after) {
  Json side = Json::array();
  for (const ComparedRun& run : runs.runs) {
    if (run.is_after != is_after) continue;
    Json json{{"database", run.name}, {"program", run.title}, {"total", run.total}};
    json["samples"] = run.samples > 0 ? Json(run.samples) : Json();
    json["ranks"] = run.ranks;
    json["threads"] = run.threads;
    side.push_back(std::move(json));
  }
  return side;
}

Json scaling_as_json(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling) {
  Json json{{"kind", scaling == Scaling::Strong ? "strong" : "weak"},
            {"workers_before", changes.workers_before},
            {"workers_after", changes.workers_after},
            {"efficiency", changes.total.exclusive.before / changes.total.exclusive.after},
            {"path_of_loss", Json::array()}};
  for (const uint32_t node : changes.path_of_loss)
    json["path_of_loss"].push_back(frame_name(runs.database, runs.tree.frames[runs.tree.nodes[node].frame]));
  return json;
}

void write_json(const MatchedRuns& runs, const RunChanges& changes, const DiffOptions& options, Output& out) {
  const Scaling scaling = options.changes.scaling;
  Json json{{"schema", "prof-diff/1"},
            {"by", kind_name(options.changes.by)},
            {"metric", runs.what().name},
            {"unit", runs.what().unit},
            {"threshold_percent", options.changes.threshold * 100},
            {"same_total", options.changes.same_total}};
  json["before"] = side_as_json(runs, false);
  json["after"] = side_as_json(runs, true);
  json["run_to_run"] = {{"deviation", changes.run_to_run.deviation},
                        {"measured", changes.run_to_run.is_measured}};
  json["judged"] = changes.judged;
  if (scaling != Scaling::None) json["scaling"] = scaling_as_json(runs, changes, scaling);
  json["total"] = row_as_json(changes.total);
  json["findings"] = findings_as_json(change_findings(runs, changes, scaling));
  json["rows"] = Json::array();
  for (const RunChange& change : changes.rows) {
    Json row{{"frames", frames_as_json(frames_of_row(runs, change))},
             {"presence", change.presence == Presence::Both        ? "both"
                          : change.presence == Presence::OnlyAfter ? "after"
                                                                   : "before"}};
    row.update(row_as_json(change));
    json["rows"].push_back(std::move(row));
  }
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

// Prints one line for each regression, for a CI log. Returns true if there is one.
bool tell_regressions(const MatchedRuns& runs, const RunChanges& changes, double percent) {
  bool has_regressed = false;
  const auto tell = [&](const RunChange& change) {
    if (verdict_of(change) != Verdict::More || change.share * 100 <= percent) return;
    say_line(regression_line(runs, changes, change));
    has_regressed = true;
  };
  tell(changes.total);
  for (const RunChange& change : changes.rows) tell(change);
  return has_regressed;
}

// Accepts "5" and "5%".
CLI::Validator percent(double low, double high) {
  const CLI::Validator number = within(low, high);
  return CLI::Validator(
      [number](std::string& text) {
        const std::string given = text;
        if (text.ends_with('%')) text.pop_back();
        std::string wrong = number(text);
        if (!wrong.empty()) text = given;
        return wrong;
      },
      "");
}

}  // namespace

void add_diff_options(CLI::App& command, DiffOptions& options) {
  command
      .add_option("runs-before", options.before,
                  "Baseline: a database or measurement directory, or several, comma-separated")
      ->type_name("BEFORE");
  command.add_option("runs-after", options.after, "Run to compare with the baseline, or several")
      ->type_name("AFTER");
  command.add_option("--before", options.before_runs, "Baseline runs, space-separated, instead of BEFORE")
      ->type_name("DATABASE|DIR");
  command.add_option("--after", options.after_runs, "Runs to compare, space-separated, instead of AFTER")
      ->type_name("DATABASE|DIR");
  command.add_option("--by", options.changes.by, "Match by function, path or line [function]")
      ->transform(choice(kKinds))
      ->type_name("KIND");
  command.add_option("--metric", options.metric, "Metric to compare [the first]")->type_name("NAME");
  command
      .add_option("--threshold", options.threshold_percent,
                  "Hide differences below this percentage of the total [2%]")
      ->transform(percent(0, 100))
      ->type_name("PCT");
  command.add_option("--limit", options.limit, "Show at most N rows of each kind [10]")
      ->check(within(uint32_t{1}, std::numeric_limits<uint32_t>::max()))
      ->type_name("N");
  command.add_option("--format", options.format, "Output format: text or json [text]")
      ->transform(choice(kFormats))
      ->type_name("FORMAT");
  command.add_flag("--same-total", options.changes.same_total, "Scale each run to the total of the baseline");
  command
      .add_option("--fail-on-regress", options.fail_percent,
                  "Exit with status 3 on a significant increase above this percentage of the total")
      ->transform(percent(0, 1000))
      ->type_name("PCT");
  command
      .add_option("--scaling", options.changes.scaling,
                  "Show what scales badly with more ranks or threads: strong (same total work) or weak (same "
                  "work each)")
      ->transform(choice(kScalings))
      ->type_name("KIND");
}

int diff(const MatchedRuns& runs, const DiffOptions& options, std::FILE* out, bool colour) {
  DiffOptions wanted = options;
  wanted.changes.threshold =
      std::min(options.threshold_percent, options.fail_percent.value_or(options.threshold_percent)) / 100;
  const RunChanges changes = find_changes(runs, wanted.changes);
  Output output(out);
  if (wanted.format == DiffFormat::Json) {
    write_json(runs, changes, wanted, output);
  } else {
    const size_t columns = terminal_columns(out);
    DiffText(runs, changes, wanted, {colour, columns > 0 ? columns : kProseColumns}, output).write();
  }
  if (!output.flush()) {
    say("cannot write the report: {}", std::strerror(errno));
    return kOwnFailure;
  }
  return options.fail_percent && tell_regressions(runs, changes, *options.fail_percent) ? kRegressed : 0;
}

}  // namespace prof
