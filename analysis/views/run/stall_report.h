#pragma once
// The stalls of a run as reports show them: what was found in the traces, and what these cannot show.

#include <optional>
#include <string>
#include <vector>

#include "analysis/stalls/stalls.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

constexpr char kStallMetric[] = "STALL";  // s, lost by the whole run

// Returns as one line what the traces of the selected threads lack for finding stalls, with the remedy;
// nullopt if nothing is missing.
std::optional<std::string> reason_no_stalls(const CallTree& tree);

struct StallReport {
  StallOptions options;  // as used
  StallAnalysis analysis;
  std::vector<std::string> notes;  // what may be missing, and why; a sentence each

  double share_of_run(uint64_t ns) const;  // 0..1
};

// For the selected threads. Must only be called if reason_no_stalls() has no reason. Throws DatabaseError if
// a trace cannot be read.
StallReport stall_report(const CallTree& tree, const RunSummary& run, StallOptions options);

// "3 s (40 % of 7.5 s) lost in 12 stalls, while all other threads waited in a barrier"
std::string format_stalls(const StallReport& report);
// "12 threads, by elapsed time (REALTIME), one sample every 5 ms"
std::string format_traces(const StallReport& report);
// "blocked: no sample for more than 10 times the thread's median; ..."
std::string format_stall_rule(const StallOptions& options);

}  // namespace prof
