#pragma once
// The output formats of a report; report() chooses one.

#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/ranks/rank_report.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/run/stall_report.h"
#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/view.h"
#include "prof/base/terminal.h"
#include "prof/report/output.h"
#include "prof/report/report_command.h"

namespace prof {

const char* view_name(ReportView view);

void tree_as_text(const CallTree& tree, const View& view, const ReportOptions& options, TextStyle style,
                  Output& out);
void tree_as_json(const CallTree& tree, const View& view, const ReportOptions& options, Output& out);
void tree_as_csv(const CallTree& tree, const View& view, const ReportOptions& options, Output& out);

// The views "devices" and "idleness", in any format.
void write_devices(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out);
void write_idleness(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out);

struct SummaryReport {
  RunSummary run;
  std::vector<Finding> findings;
};
void summary_as_text(const CallTree& tree, const SummaryReport& summary, TextStyle style, Output& out);
void summary_as_json(const CallTree& tree, const SummaryReport& summary, const ReportOptions& options,
                     Output& out);
void summary_as_csv(const CallTree& tree, const SummaryReport& summary, Output& out);

void contention_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out);
void contention_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                        Output& out);
// Writes a unified diff of the source files. Changes that cannot be made are reported on standard error.
// Returns false if none can be made.
bool contention_as_patch(const RunSummary& run, Output& out);
void contention_as_csv(const CallTree& tree, const RunSummary& run, Output& out);

void locks_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out);
void locks_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options, Output& out);
void locks_as_csv(const CallTree& tree, const RunSummary& run, Output& out);

void memory_waste_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out);
void memory_waste_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                          Output& out);
void memory_waste_as_csv(const CallTree& tree, const RunSummary& run, Output& out);

void ranks_as_text(const CallTree& tree, const RunSummary& run, const RankReport& report, TextStyle style,
                   Output& out);
void ranks_as_json(const CallTree& tree, const RunSummary& run, const RankReport& report,
                   const ReportOptions& options, Output& out);
void ranks_as_csv(const RankReport& report, Output& out);

void stalls_as_text(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                    TextStyle style, Output& out);
void stalls_as_json(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                    Output& out);
void stalls_as_csv(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                   Output& out);

}  // namespace prof
