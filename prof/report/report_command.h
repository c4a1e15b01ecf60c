#pragma once
// `prof report DATABASE|DIR`: shows a database. The caller reads the database and chooses the output.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace CLI {
class App;
}

namespace prof {

enum class ReportView : uint8_t {
  Summary,
  TopDown,
  BottomUp,
  Flat,
  Lines,
  Stalls,
  Devices,
  Idleness,
  Contention,
  Locks,
  MemoryWaste,
  Ranks
};
enum class ReportFormat : uint8_t { Text, Json, Csv, Patch };

struct ReportOptions {
  std::string database;  // as the user typed it: a database or a measurement directory
  ReportView view = ReportView::Summary;
  ReportFormat format = ReportFormat::Text;
  std::vector<std::string> threads;  // see select() in analysis/views/selection.h
  std::vector<std::string> metrics;
  double threshold_percent = 1;  // 0..100
  uint32_t depth = 0;            // levels shown; 0: all
  bool merge_recursion = false;
  double stall_factor = 10;         // see StallOptions in analysis/stalls/stalls.h
  double stall_share_percent = 10;  // above 0, at most 100
  std::vector<std::string> barriers;
  bool statistics = false;          // over threads, in text and CSV; JSON always includes them
  std::optional<uint32_t> columns;  // width for text, 0: no limit; absent: the terminal's, see report()
};

// Declares what all commands on a database have: the positional DATABASE, --thread and --merge-recursion.
void add_selection_options(CLI::App& command, std::string& database, std::vector<std::string>& threads,
                           bool& merge_recursion);

// Declares the positional DATABASE and every option of `prof report`.
void add_report_options(CLI::App& command, ReportOptions& options);

// Prints a report. On a terminal, text is fitted to its width. Elsewhere the summary is fitted to 100
// columns, and the other views do not shorten names. A failure is one line on standard error, and kOwnFailure
// (prof/base/message.h) is returned.
int report(const Database& database, const ReportOptions& options, std::FILE* out, bool colour);

}  // namespace prof
