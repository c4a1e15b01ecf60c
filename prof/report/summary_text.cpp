// The summary on one screen: the program, the quality of the measurement, the hot path, and the findings.

#include <algorithm>

#include "analysis/views/run/format_repairs.h"
#include "analysis/views/run/format_run.h"
#include "analysis/views/tree/hot_path.h"
#include "analysis/views/tree/program_lines.h"
#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

constexpr size_t kScreenLines = 24;  // the classic terminal
constexpr size_t kHotFunctions = 5;  // more would be a list, not a summary
constexpr size_t kProgramLines = 4;
constexpr double kWorthALine = 0.01;
constexpr double kMuchInLibraries = 0.05;  // below, functions by self time show the same as lines
constexpr size_t kFindingLines = 13;  // room for both sides of a device
constexpr size_t kKeptLines = 7;      // three headings, three lines of the path, a function
constexpr size_t kNoteLines = 3;
constexpr size_t kReasons = 2;
constexpr size_t kLabelColumns = 10;
constexpr size_t kHotNameColumns = 44;
constexpr size_t kCallerNameColumns = 24;
constexpr size_t kPathIndentLevels = 12;  // as deep as a path can get on one screen

using Lines = std::vector<std::string>;

class SummaryText {
 public:
  SummaryText(const CallTree& tree, const SummaryReport& summary, TextStyle style)
      : tree_(tree), run_(summary.run), findings_(summary.findings), style_(style) {}

  Lines lines() {
    Lines all = header();
    Lines lines = program_line_lines();
    const size_t kept = kKeptLines + (lines.empty() ? 0 : 2);  // includes their heading and one of them
    const Lines found =
        finding_lines(std::min(kFindingLines, kScreenLines - std::min(kScreenLines, all.size() + kept)));
    const size_t findings = found.empty() ? 0 : found.size() + 1;
    const size_t room = kScreenLines - std::min(kScreenLines, all.size() + findings);
    lines.resize(std::min(lines.size(), 1 + (room - std::min(room, kept)) / 3));
    const size_t rest = room - std::min(room, lines.empty() ? 0 : lines.size() + 1);
    // Two headings. The path gets the lines that functions leave; it needs at least three to be useful.
    const Lines functions = function_lines(std::min(kHotFunctions, (rest - std::min<size_t>(rest, 3)) / 2));
    const Lines path = path_lines(rest - std::min(rest, functions.size() + 2));
    append(all, heading("hottest path"), path);
    append(all, "lines of the program, with the library code they call", lines);
    append(all, "functions by self cost: heaviest line (its share), main callers", functions);
    append(all, "findings", found);
    return all;
  }

 private:
  void append(Lines& all, const std::string& title, const Lines& more) const {
    if (more.empty()) return;
    all.push_back(bold(style_, title));
    all.insert(all.end(), more.begin(), more.end());
  }

  std::string heading(const std::string& what) const {
    if (tree_.metrics() == 0) return what;
    return fmt::format("{} ({}, {} in all)", what, printable(tree_.metric(0).name),
                       format_total(tree_.metric(0), tree_.totals[0]));
  }

  std::string fitted(const std::string& line) const {
    return style_.columns == 0 ? line : shorten_middle(line, style_.columns);
  }

  Lines labelled(const char* label, const std::string& text) const {
    Lines lines = wrap(printable(text), style_.columns == 0 ? 0 : style_.columns - kLabelColumns);
    for (std::string& line : lines)
      line = fitted(fmt::format("{:<{}}{}", &line == &lines.front() ? label : "", kLabelColumns, line));
    return lines;
  }

  void add_labelled(Lines& lines, const char* label, const std::string& text) const {
    lines.push_back(fitted(fmt::format("{:<{}}{}", label, kLabelColumns, printable(text))));
  }

  void add_known(Lines& lines, const char* label, const std::string& text) const {
    if (!text.empty()) add_labelled(lines, label, text);
  }

  // Adds a label with as many reasons as the lines have room for.
  void add_explained(Lines& lines, const char* label, const std::string& text, const Reasons& all,
                     size_t most_lines) const {
    if (text.empty()) return;
    for (size_t named = kReasons;; --named) {
      const Lines wrapped = labelled(label, text + format_reasons(all, named));
      if (wrapped.size() > most_lines && named > 1) continue;
      lines.insert(lines.end(), wrapped.begin(), wrapped.end());
      return;
    }
  }

  // Returns notes. Each is complete, because its end says what to do about it. The first is always shown,
  // more if there is room.
  Lines notes() const {
    Lines lines;
    for (const std::string& note : sentences(run_.notes)) {
      const Lines wrapped = labelled("note", note);
      if (!lines.empty() && lines.size() + wrapped.size() > kNoteLines) break;
      lines.insert(lines.end(), wrapped.begin(), wrapped.end());
    }
    return lines;
  }

  Lines header() const {
    Lines lines;
    const std::string status = format_ending(run_);
    const size_t columns = style_.columns == 0 ? SIZE_MAX : style_.columns - kLabelColumns - status.size();
    lines.push_back(bold(style_, fmt::format("{:<{}}{}{}", "program", kLabelColumns,
                                             shorten_middle(printable(run_.command), columns), status)));
    add_labelled(lines, "ran", format_ran(run_));
    add_known(lines, "selected", format_selected(tree_));
    // prof exact follows all accesses: nothing is sampled, and the time of Valgrind is not prof's overhead.
    const bool is_sampled = !(run_.memory_waste.was_searched && run_.memory_waste.is_exact);
    if (is_sampled) add_known(lines, "sampled", format_sampled(tree_, run_));
    add_known(lines, "paused", format_paused(run_));
    add_explained(lines, "dropped", format_dropped(run_), run_.dropped, 1);
    if (run_.stacks) add_explained(lines, "stacks", format_stacks(run_), run_.stacks->reasons, 2);
    if (is_sampled) add_known(lines, "overhead", format_overhead(run_));
    add_known(lines, "repaired", repairs_in_short(run_.repairs));
    const Lines more = notes();
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  }

  // Returns the source line of a frame with its share of the cost there, or else its module. Never shortened,
  // unlike the name.
  std::string where(uint32_t frame, const SourceLocation& location, double share_at_location = 1) const {
    const std::string at = format_location(*tree_.database, location, share_at_location);
    return printable(at.empty() ? format_module(*tree_.database, tree_.frames[frame]) : at);
  }

  static std::string apart(const std::string& text) { return text.empty() ? text : "  " + text; }

  std::string name(uint32_t frame, size_t columns) const {
    return shorten_name(printable(frame_name(*tree_.database, tree_.frames[frame])), columns);
  }

  std::string share(double value) const {
    const double part = tree_.share(value, 0);
    return heat(style_, part, fmt::format("{:6.1f} %", part * 100));
  }

  size_t free_columns(size_t taken) const {
    return style_.columns == 0 ? SIZE_MAX : style_.columns - std::min(style_.columns, taken);
  }

  Lines path_lines(size_t room) const {
    std::vector<PathStep> path = hot_path(tree_);
    // The start of a stack is not a place in the program. If it is alone, it shows that nothing more is
    // known.
    if (path.size() > 1)
      std::erase_if(path,
                    [&](const PathStep& step) { return tree_.frames[step.frame].kind == FrameKind::Entry; });
    leave_out_libraries(path);
    Lines lines;
    if (path.empty() || room == 0) return lines;
    const std::vector<PathRow> rows = without_recursion(path);
    const bool cut = rows.size() > room;
    const size_t first =
        cut ? rows.size() - (room > 2 ? room - 2 : room) : 0;  // the end of the path is most useful
    if (cut && room > 2) {
      lines.push_back(path_line(rows[0], 0));
      size_t frames = 0;
      for (size_t i = 1; i < first; ++i) frames += rows[i].times;
      lines.push_back(fmt::format("            ... {} more", format_count(frames, "frame")));
    }
    for (size_t i = first; i < rows.size(); ++i) lines.push_back(path_line(rows[i], lines.size()));
    return lines;
  }

  bool is_program_code(uint32_t frame) const {
    return !is_library_code(*tree_.database, tree_.frames[frame]) &&
           !is_start_code(frame_name(*tree_.database, tree_.frames[frame]));
  }

  // Keeps the steps in the program's own code, and the last step of the path.
  void leave_out_libraries(std::vector<PathStep>& path) const {
    const auto is_program = [&](const PathStep& step) { return is_program_code(step.frame); };
    if (std::ranges::none_of(path, is_program)) return;
    const PathStep last = path.back();
    path.pop_back();
    std::erase_if(path, [&](const PathStep& step) { return !is_program(step); });
    path.push_back(last);
  }

  Lines program_line_lines() const {
    Lines lines;
    const std::vector<ProgramLine> all = program_lines(tree_, kProgramLines);
    if (std::ranges::none_of(all, [&](const ProgramLine& line) {
          return tree_.share(line.cost - line.own, 0) >= kMuchInLibraries;
        }))
      return lines;
    for (const ProgramLine& line : all) {
      if (!lines.empty() && tree_.share(line.cost, 0) < kWorthALine) break;
      std::string called;
      if (line.call != kNone && tree_.share(line.call_cost, 0) >= kWorthALine)
        called = fmt::format(" -> {} ({:.0f} %)", name(line.call, kCallerNameColumns),
                             100 * tree_.share(line.call_cost, 0));
      const std::string at = where(line.frame, line.location);
      const size_t columns = free_columns(kShareColumns + 4 + columns_of(at) + columns_of(called));
      lines.push_back(fmt::format("{}  {}{}{}", share(line.cost),
                                  name(line.frame, std::min(kHotNameColumns, std::max<size_t>(columns, 5))),
                                  apart(at), called));
    }
    return lines;
  }

  // A step of the path, and the number of consecutive calls of the same function that it represents.
  struct PathRow {
    PathStep step;
    size_t times;
  };

  // Merges consecutive calls of a function. The cost is that of the outermost call, the line that of the
  // innermost.
  static std::vector<PathRow> without_recursion(const std::vector<PathStep>& path) {
    std::vector<PathRow> rows;
    for (const PathStep& step : path) {
      if (rows.empty() || rows.back().step.frame != step.frame) {
        rows.push_back({step, 1});
      } else {
        rows.back().step.location = step.location;
        rows.back().step.share_at_location = step.share_at_location;
        ++rows.back().times;
      }
    }
    return rows;
  }

  std::string path_line(const PathRow& row, size_t level) const {
    const PathStep& step = row.step;
    const size_t indent = 2 * std::min(level, kPathIndentLevels);
    std::string at = where(step.frame, step.location, step.share_at_location);
    if (row.times > 1) at += fmt::format("{}{} times in a row", at.empty() ? "" : ", ", row.times);
    return fmt::format("{}  {:{}}{}{}", share(step.inclusive), "", indent,
                       name(step.frame, free_columns(indent + columns_of(at) + kShareColumns + 4)),
                       apart(at));
  }

  Lines function_lines(size_t limit) const {
    Lines lines;
    for (const HotFunction& hot : hot_functions(tree_, limit)) {
      if (!lines.empty() && tree_.share(hot.cost.exclusive, 0) < kWorthALine) break;
      const std::string function =
          name(hot.frame, kHotNameColumns) + apart(where(hot.frame, hot.location, hot.share_at_location));
      std::string line = fmt::format("{}  {}", share(hot.cost.exclusive), function);
      size_t columns = kShareColumns + 2 + columns_of(function);
      const bool has_program_caller =
          std::ranges::any_of(hot.callers, [&](const PathStep& step) { return is_program_code(step.frame); });
      for (const PathStep& caller : hot.callers) {
        if (has_program_caller && !is_program_code(caller.frame)) continue;
        const std::string at = where(caller.frame, caller.location);
        const std::string next =
            " <- " + name(caller.frame, kCallerNameColumns) + (at.empty() ? "" : " (" + at + ")");
        if (free_columns(columns) < columns_of(next) + 4) {  // room for the dots
          line += " ...";
          break;
        }
        line += next;
        columns += columns_of(next);
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  Lines finding_lines(size_t limit) const {
    Lines lines;
    size_t shown = 0;
    for (const Finding& finding : findings_) {
      Lines sentence = wrap(printable(finding.sentence), style_.columns == 0 ? 0 : style_.columns - 4);
      const bool last = shown + 1 == findings_.size();
      if (shown > 0 && lines.size() + sentence.size() + (last ? 0 : 1) > limit) break;
      for (size_t i = 0; i < sentence.size(); ++i) lines.push_back((i == 0 ? "  * " : "    ") + sentence[i]);
      ++shown;
    }
    if (shown < findings_.size())
      lines.push_back(fmt::format("    and {} more: --format=json", findings_.size() - shown));
    return lines;
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const std::vector<Finding>& findings_;
  const TextStyle style_;
};

}  // namespace

void summary_as_text(const CallTree& tree, const SummaryReport& summary, TextStyle style, Output& out) {
  for (const std::string& line : SummaryText(tree, summary, style).lines()) out.print("{}\n", line);
}

}  // namespace prof
