#pragma once
// Stalls as reports show them: who was blocked, where, what that cost, and how far the traces can tell.

#include <optional>
#include <string>
#include <vector>

#include "analysis/stalls/stalls.h"
#include "analysis/views/findings.h"

namespace prof {

constexpr char kStallMetric[] = "STALL";  // s, lost by the whole run

// What is missing in the traces of the selected threads to find stalls, with the remedy, as one line; nullopt
// where nothing is.
std::optional<std::string> why_no_stalls(const CallTree& tree);

struct StallReport {
  StallOptions options;  // as used
  StallAnalysis analysis;
  std::vector<Finding> findings;   // one for each call path in which threads were blocked, by falling cost
  std::vector<std::string> notes;  // what may be missing, and why; a sentence each

  double share_of_run(uint64_t ns) const;  // 0..1
};

// Of the selected threads. Only where why_no_stalls() has no reason. Throws DatabaseError where a trace
// cannot be read.
StallReport stall_report(const CallTree& tree, const RunSummary& run, StallOptions options);

// "3 s (40 % of 7.5 s) lost in 12 stalls, while all other threads waited in a barrier"
std::string stalls_in_words(const StallReport& report);
// "12 threads, by elapsed time (REALTIME), a sample each 5 ms"
std::string traces_in_words(const StallReport& report);
// "blocked: no sample for more than 10 times the thread's median; ..."
std::string stall_rule_in_words(const StallOptions& options);

// The call path of a context, the innermost frame first, without the entry point. Each frame has the line at
// which it calls the next one.
std::vector<FindingFrame> frames_of(const CallTree& tree, uint32_t context);

// "late_wakeup (stall.cpp:40)"
std::string words_for_frame(const FindingFrame& frame);

// "clock_nanosleep <- late_wakeup (stall.cpp:40)": the function and its next caller with a source line.
std::string words_for_call(const std::vector<FindingFrame>& frames);

}  // namespace prof
