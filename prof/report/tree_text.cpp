// The table views as text: costs on the left; on the right an indented tree of functions, or lines with their
// source.

#include <algorithm>

#include "analysis/findings/measurement.h"
#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"
#include "prof/report/renderers.h"
#include "prof/report/source_lines.h"
#include "prof/report/text.h"

namespace prof {
namespace {

// Unless the user names more: as many metrics as leave room for a name in a line of 80 columns, at least one.
constexpr size_t kMetricsShown = 2;
constexpr size_t kMaxCostColumns = 66;
constexpr uint32_t kWideLevels = 20;  // deeper trees are indented by one column per level
constexpr uint32_t kMaxLevels = 80;   // even deeper rows show their depth as a number instead
constexpr size_t kMinValueColumns = 7;
constexpr size_t kMinNameColumns = 16;
// For the lines view: cells up to this width are aligned. Wider cells shift the rest of their row to the
// right.
constexpr size_t kAlignedLocationColumns = 32;
constexpr size_t kAlignedFunctionColumns = 48;
constexpr size_t kMinSourceColumns = 8;

class TreeText {
 public:
  TreeText(const CallTree& tree, const View& view, const ReportOptions& options, TextStyle style, Output& out)
      : tree_(tree), view_(view), options_(options), style_(style), out_(out) {
    shown_ = options.metrics.empty() ? std::min(tree.metrics(), kMetricsShown) : tree.metrics();
    for (size_t m = 0; m < shown_; ++m)
      value_columns_.push_back(value_columns(tree.metric(m), tree.totals[m]));
    if (options.metrics.empty())
      while (shown_ > 1 && cost_columns() > kMaxCostColumns) --shown_;
  }

  void write() {
    shows_lines() ? fit_lines() : fit_indent();
    write_title();
    if (view_.rows.empty()) {
      out_.write(nothing_to_show());
      return;
    }
    write_header();
    for (size_t r = 0; r < view_.rows.size(); ++r) write_row(r);
  }

 private:
  bool shows_lines() const { return options_.view == ReportView::Lines; }

  // Returns a width for the largest value, and for the heading "NAME incl." above value and share.
  static size_t value_columns(const Metric& metric, double total) {
    const size_t heading = columns_of(metric.name) + 6;
    return std::max(
        {format_value(metric, total).size(), kMinValueColumns, heading - std::min(heading, kShareColumns)});
  }

  // Limits indentation to a third of the line on a terminal.
  void fit_indent() {
    uint32_t deepest = 0;
    for (const Row& row : view_.rows) deepest = std::max(deepest, row.depth);
    indent_ = deepest <= kWideLevels ? 2 : 1;
    levels_ = style_.columns > 0 ? static_cast<uint32_t>(style_.columns / 3 / indent_) : kMaxLevels;
  }

  // Fits the lines view to a terminal: two fifths of the width after the location are for the source.
  void fit_lines() {
    SourceLines sources(*tree_.database, options_.database);
    bool has_source = false;
    for (const Row& row : view_.rows) {
      location_columns_ = std::max(location_columns_, columns_of(location_of(row)));
      const size_t name = columns_of(printable(frame_name(*tree_.database, tree_.frames[row.frame])));
      function_columns_ = std::max(function_columns_, name + columns_of(function_tail(row)));
      sources_.push_back(sources.line(row.location));
      has_source |= !sources_.back().empty();
    }
    location_columns_ = std::min(location_columns_, kAlignedLocationColumns);
    function_columns_ = has_source ? std::min(function_columns_, kAlignedFunctionColumns) : 0;
    if (style_.columns == 0) return;
    const size_t room = free_columns(left_columns() + location_columns_ + 5);
    function_columns_ = std::min(function_columns_, std::max(kMinNameColumns, room * 3 / 5));
  }

  size_t free_columns(size_t taken) const { return style_.columns - std::min(style_.columns, taken); }

  void write_title() {
    std::string title =
        fmt::format("{}, {}", tree_.database->title.empty() ? "profile" : tree_.database->title,
                    view_name(options_.view));
    for (size_t m = 0; m < shown_; ++m)
      title += fmt::format(", {} {}", tree_.metric(m).name, format_total(tree_.metric(m), tree_.totals[m]));
    if (options_.threshold_percent > 0)
      title += fmt::format("; rows below {:g} % hidden", options_.threshold_percent);
    out_.print("{}\n", bold(style_, printable(title)));
    if (shown_ == tree_.metrics()) return;
    std::vector<std::string> others;
    for (size_t m = shown_; m < tree_.metrics(); ++m) others.push_back(tree_.metric(m).name);
    out_.print("also measured: {} (select with --metric)\n",
               printable(fmt::format("{}", fmt::join(others, ", "))));
  }

  std::string nothing_to_show() const {
    if (!has_no_costs(tree_)) return "no row reaches the threshold\n";
    return measurement_findings(tree_, run_summary(*tree_.database)).front().sentence + "\n";
  }

  void write_header() {
    for (size_t m = 0; m < shown_; ++m) {
      const size_t columns = value_columns_[m] + kShareColumns;
      const std::string name = printable(tree_.metric(m).name);
      out_.print("{:>{}} {:>{}} ", name + " incl.", columns, name + " excl.", columns);
      if (!view_.threads.empty())
        out_.print("{:>{}} {:>{}} {:>{}} {:>{}} {:>7} ", "min", value_columns_[m], "mean", value_columns_[m],
                   "max", value_columns_[m], "stddev", value_columns_[m], "threads");
    }
    if (shows_lines())
      out_.print(" {:<{}}  {:<{}}{}\n", "line", location_columns_, "function", function_columns_,
                 function_columns_ > 0 ? "  source" : "");
    else
      out_.write(options_.view == ReportView::BottomUp ? " function, callers below\n" : " function\n");
  }

  void write_row(size_t r) {
    for (size_t m = 0; m < shown_; ++m) {
      const Cost& cost = view_.costs[r * tree_.metrics() + m];
      write_cost(cost.inclusive, m);
      write_cost(cost.exclusive, m);
      if (!view_.threads.empty()) write_spread(view_.threads[r * tree_.metrics() + m], m);
    }
    if (shows_lines())
      write_line(r);
    else
      write_name(view_.rows[r]);
  }

  size_t cost_columns() const {
    size_t columns = 1;
    for (size_t m = 0; m < shown_; ++m) columns += 2 * (value_columns_[m] + kShareColumns + 1);
    return columns;
  }

  size_t left_columns() const {
    size_t columns = cost_columns();
    for (size_t m = 0; m < shown_ && !view_.threads.empty(); ++m) columns += 4 * (value_columns_[m] + 1) + 8;
    return columns;
  }

  void write_cost(double value, size_t m) {
    const double share = tree_.share(value, m);
    if (value == 0)
      out_.print("{:>{}} ", "", value_columns_[m] + kShareColumns);
    else
      out_.print("{:>{}}{} ", format_value(tree_.metric(m), value), value_columns_[m],
                 heat(style_, share, fmt::format("{:6.1f} %", share * 100)));
  }

  void write_spread(const ThreadSpread& threads, size_t m) {
    const Spread& spread = options_.view == ReportView::TopDown ? threads.inclusive : threads.exclusive;
    for (const double value : {spread.minimum, spread.mean(), spread.maximum, spread.stddev()})
      out_.print("{:>{}} ", format_value(tree_.metric(m), value), value_columns_[m]);
    out_.print("{:>7} ", spread.count);
  }

  void write_name(const Row& row) {
    const Database& database = *tree_.database;
    const Frame& frame = tree_.frames[row.frame];
    std::string lead(indent_ * std::min(row.depth, levels_), ' ');
    if (row.depth > levels_) lead += fmt::format("[{}] ", row.depth);
    std::string tail = row.inlined ? " [inlined]" : "";
    const std::string location = printable(format_location(database, row.location));
    if (!location.empty()) tail += "  " + location;
    const std::string module = printable(format_module(database, frame));
    if ((options_.view == ReportView::Flat || location.empty()) && !module.empty()) tail += "  " + module;
    std::string name = printable(frame_name(database, frame));
    if (style_.columns > 0) {
      const size_t taken = left_columns() + lead.size() + columns_of(tail);
      name = shorten_name(name, std::max(kMinNameColumns, free_columns(taken)));
    }
    out_.print(" {}{}{}\n", lead, name, tail);
  }

  std::string location_of(const Row& row) const {
    return printable(format_location(*tree_.database, row.location));
  }

  std::string function_tail(const Row& row) const {
    const std::string module = printable(format_module(*tree_.database, tree_.frames[row.frame]));
    return (row.inlined ? " [inlined]" : "") + (module.empty() ? module : "  " + module);
  }

  void write_line(size_t r) {
    const Row& row = view_.rows[r];
    std::string line = padded(location_of(row), location_columns_) + "  ";
    const std::string tail = function_tail(row);
    std::string name = printable(frame_name(*tree_.database, tree_.frames[row.frame]));
    if (style_.columns > 0) {
      const size_t room =
          function_columns_ > 0 ? function_columns_ : free_columns(left_columns() + line.size());
      name = shorten_name(name, std::max(kMinNameColumns, room - std::min(room, columns_of(tail))));
    }
    line += name + tail;
    if (!sources_[r].empty()) {
      line = padded(line, location_columns_ + 2 + function_columns_) + "  ";
      const size_t room = style_.columns == 0 ? 0 : free_columns(left_columns() + columns_of(line));
      if (style_.columns == 0 || room >= kMinSourceColumns) line += shorten_end(sources_[r], room);
    }
    out_.print(" {}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }

  static std::string padded(const std::string& text, size_t columns) {
    return text + std::string(columns - std::min(columns, columns_of(text)), ' ');
  }

  const CallTree& tree_;
  const View& view_;
  const ReportOptions& options_;
  const TextStyle style_;
  Output& out_;
  size_t shown_ = 0;
  size_t indent_ = 2;
  uint32_t levels_ = kMaxLevels;  // levels that are indented
  std::vector<size_t> value_columns_;
  // For the lines view; functions are not aligned if no source is known.
  size_t location_columns_ = 4;  // its heading
  size_t function_columns_ = 0;
  std::vector<std::string> sources_;  // per row
};

}  // namespace

void tree_as_text(const CallTree& tree, const View& view, const ReportOptions& options, TextStyle style,
                  Output& out) {
  TreeText(tree, view, options, style, out).write();
}

}  // namespace prof
