#include "prof/report/report_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/run/memory_waste.h"
#include "analysis/views/run/overhead.h"
#include "analysis/views/run/stall_report.h"
#include "analysis/views/tree/line_tree.h"
#include "prof/base/choice.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

constexpr size_t kSummaryColumns = 100;  // fits a screen and a mail

const std::map<std::string, ReportView> kViews = {{"summary", ReportView::Summary},
                                                  {"top-down", ReportView::TopDown},
                                                  {"bottom-up", ReportView::BottomUp},
                                                  {"flat", ReportView::Flat},
                                                  {"lines", ReportView::Lines},
                                                  {"stalls", ReportView::Stalls},
                                                  {"devices", ReportView::Devices},
                                                  {"idleness", ReportView::Idleness},
                                                  {"contention", ReportView::Contention},
                                                  {"locks", ReportView::Locks},
                                                  {"memory-waste", ReportView::MemoryWaste},
                                                  {"ranks", ReportView::Ranks}};
const std::map<std::string, ReportFormat> kFormats = {{"text", ReportFormat::Text},
                                                      {"json", ReportFormat::Json},
                                                      {"csv", ReportFormat::Csv},
                                                      {"patch", ReportFormat::Patch}};

size_t text_columns(const ReportOptions& options, std::FILE* out) {
  if (options.columns) return *options.columns;
  if (const size_t columns = terminal_columns(out)) return columns;
  const bool is_prose = options.view == ReportView::Summary || options.view == ReportView::Stalls ||
                        options.view == ReportView::Idleness || options.view == ReportView::Contention ||
                        options.view == ReportView::Locks || options.view == ReportView::MemoryWaste ||
                        options.view == ReportView::Ranks;
  return is_prose ? kSummaryColumns : 0;
}

StallOptions stall_options(const ReportOptions& options) {
  StallOptions wanted;
  wanted.factor = options.stall_factor;
  wanted.share = options.stall_share_percent / 100;
  wanted.barriers = options.barriers;
  return wanted;
}

void write_stalls(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  const StallReport report = stall_report(tree, run_summary(*tree.database), stall_options(options));
  switch (options.format) {
    case ReportFormat::Text:
      return stalls_as_text(tree, report, options, style, out);
    case ReportFormat::Json:
      return stalls_as_json(tree, report, options, out);
    case ReportFormat::Csv:
      return stalls_as_csv(tree, report, options, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

void write_contention(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                      TextStyle style, Output& out) {
  switch (options.format) {
    case ReportFormat::Text:
      return contention_as_text(tree, run, style, out);
    case ReportFormat::Json:
      return contention_as_json(tree, run, options, out);
    case ReportFormat::Csv:
      return contention_as_csv(tree, run, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

void write_locks(const CallTree& tree, const RunSummary& run, const ReportOptions& options, TextStyle style,
                 Output& out) {
  switch (options.format) {
    case ReportFormat::Text:
      return locks_as_text(tree, run, style, out);
    case ReportFormat::Json:
      return locks_as_json(tree, run, options, out);
    case ReportFormat::Csv:
      return locks_as_csv(tree, run, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

void write_memory_waste(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                        TextStyle style, Output& out) {
  switch (options.format) {
    case ReportFormat::Text:
      return memory_waste_as_text(tree, run, style, out);
    case ReportFormat::Json:
      return memory_waste_as_json(tree, run, options, out);
    case ReportFormat::Csv:
      return memory_waste_as_csv(tree, run, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

void write_ranks(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  const RunSummary run = run_summary(*tree.database);
  const RankReport report = rank_report(tree, run);
  switch (options.format) {
    case ReportFormat::Text:
      return ranks_as_text(tree, run, report, style, out);
    case ReportFormat::Json:
      return ranks_as_json(tree, run, report, options, out);
    case ReportFormat::Csv:
      return ranks_as_csv(report, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

void write_summary(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  SummaryReport summary;
  summary.run = run_summary_with_hooks(tree);
  summary.findings = all_findings(tree, summary.run, stall_options(options));
  switch (options.format) {
    case ReportFormat::Text:
      return summary_as_text(tree, summary, style, out);
    case ReportFormat::Json:
      return summary_as_json(tree, summary, options, out);
    case ReportFormat::Csv:
      return summary_as_csv(tree, summary, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

View compute_view(const CallTree& tree, const ReportOptions& options) {
  ViewOptions wanted;
  wanted.threshold_percent = options.threshold_percent;
  wanted.levels = options.depth;
  wanted.statistics = options.statistics || options.format == ReportFormat::Json;
  switch (options.view) {
    case ReportView::BottomUp:
      return bottom_up(tree, wanted);
    case ReportView::Flat:
    case ReportView::Lines:  // of a tree that is split by them
      return flat(tree, wanted);
    default:
      return top_down(tree, wanted);
  }
}

void write_tree(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  const View view = compute_view(tree, options);
  switch (options.format) {
    case ReportFormat::Text:
      return tree_as_text(tree, view, options, style, out);
    case ReportFormat::Json:
      return tree_as_json(tree, view, options, out);
    case ReportFormat::Csv:
      return tree_as_csv(tree, view, options, out);
    case ReportFormat::Patch:
      return;  // refused earlier
  }
}

}  // namespace

const char* view_name(ReportView view) {
  for (const auto& [name, value] : kViews)
    if (value == view) return name.c_str();
  return "";
}

void add_selection_options(CLI::App& command, std::string& database, std::vector<std::string>& threads,
                           bool& merge_recursion) {
  command.add_option("database", database, "Database or measurement directory")
      ->required()
      ->type_name("DATABASE|DIR");
  command.add_option("--thread", threads, "Select threads by index, rank.thread or name (patterns allowed)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("THREAD");
  command.add_flag("--merge-recursion", merge_recursion, "Fold recursive calls into their outermost frame");
}

void add_report_options(CLI::App& command, ReportOptions& options) {
  add_selection_options(command, options.database, options.threads, options.merge_recursion);
  command
      .add_option("--view", options.view,
                  "View to print: summary, top-down, bottom-up, flat, lines, stalls, devices, idleness, "
                  "contention, locks, memory-waste or ranks [summary]")
      ->transform(choice(kViews))
      ->type_name("VIEW");
  command
      .add_option("--format", options.format,
                  "Output format: text, json, csv, or patch with --view=contention [text]")
      ->transform(choice(kFormats))
      ->type_name("FORMAT");
  command.add_option("--metric", options.metrics, "Select metrics; rows are sorted by the first")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME");
  command
      .add_option("--threshold", options.threshold_percent,
                  "Hide rows below this percentage of the total [1]")
      ->check(within(0.0, 100.0))
      ->type_name("PCT");
  command.add_option("--depth", options.depth, "Show at most N levels")
      ->check(within(uint32_t{1}, std::numeric_limits<uint32_t>::max()))
      ->type_name("N");
  command.add_flag("--statistics", options.statistics,
                   "Show minimum, mean, maximum and standard deviation over threads");
  command
      .add_option("--stall-factor", options.stall_factor,
                  "Count a thread as blocked if it has no sample for N times its median interval [10]")
      ->check(within(1.0, 1e6))
      ->type_name("N");
  command
      .add_option("--stall-share", options.stall_share_percent,
                  "A stall counts only if fewer than this percentage of threads is blocked [10; use 30 for "
                  "four threads]")
      ->check(within(0.01, 100.0))
      ->type_name("PCT");
  command
      .add_option("--barriers", options.barriers, "Also treat these functions as barriers (patterns allowed)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME");
}

int report(const Database& database, const ReportOptions& options, std::FILE* out, bool colour) {
  Selection selection;
  try {
    selection = select(database, options.metrics, options.threads);
  } catch (const SelectionError& error) {
    say_line(error.what());
    return kOwnFailure;
  }
  CallTree tree = build_call_tree(database, selection, options.merge_recursion);
  if (options.view == ReportView::Stalls) {
    if (const std::optional<std::string> why = reason_no_stalls(tree)) {
      say_line(*why);
      return kOwnFailure;
    }
  }
  if (options.format == ReportFormat::Patch && options.view != ReportView::Contention) {
    say("--format=patch needs --view=contention: other views have no source changes");
    return kOwnFailure;
  }
  if (options.view == ReportView::Ranks) {
    if (const std::optional<std::string> why = reason_no_ranks(tree)) {
      say_line(*why);
      return kOwnFailure;
    }
  }
  const bool reads_run = options.view == ReportView::Contention || options.view == ReportView::Locks ||
                         options.view == ReportView::MemoryWaste;
  const RunSummary run = reads_run ? run_summary(database) : RunSummary{};
  if (options.view == ReportView::Contention) {
    if (const std::optional<std::string> why = reason_no_contention(run)) {
      say_line(*why);
      return kOwnFailure;
    }
  }
  if (options.view == ReportView::Locks) {
    if (const std::optional<std::string> why = reason_no_locks(run)) {
      say_line(*why);
      return kOwnFailure;
    }
  }
  if (options.view == ReportView::MemoryWaste) {
    if (const std::optional<std::string> why = reason_no_memory_waste(run)) {
      say_line(*why);
      return kOwnFailure;
    }
  }
  if (options.view == ReportView::Lines) tree = split_by_line(std::move(tree));
  const TextStyle style{colour, text_columns(options, out)};
  Output output(out);
  bool is_whole = true;
  if (options.format == ReportFormat::Patch) {
    is_whole = contention_as_patch(run, output);
  } else if (options.view == ReportView::Summary) {
    write_summary(tree, options, style, output);
  } else if (options.view == ReportView::Stalls) {
    write_stalls(tree, options, style, output);
  } else if (options.view == ReportView::Contention) {
    write_contention(tree, run, options, style, output);
  } else if (options.view == ReportView::Locks) {
    write_locks(tree, run, options, style, output);
  } else if (options.view == ReportView::MemoryWaste) {
    write_memory_waste(tree, run, options, style, output);
  } else if (options.view == ReportView::Ranks) {
    write_ranks(tree, options, style, output);
  } else if (options.view == ReportView::Devices) {
    write_devices(tree, options, style, output);
  } else if (options.view == ReportView::Idleness) {
    write_idleness(tree, options, style, output);
  } else {
    write_tree(tree, options, style, output);
  }
  if (output.flush()) return is_whole ? 0 : kOwnFailure;
  say("cannot write the report: {}", std::strerror(errno));
  return kOwnFailure;
}

}  // namespace prof
