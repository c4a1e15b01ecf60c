#pragma once
// Formats the changes between two sets of runs. Text reports, JSON and CI logs have the same words.

#include <string>
#include <vector>

#include "analysis/views/compare/run_changes.h"
#include "analysis/words/code_frame.h"

namespace prof {

constexpr size_t kSentenceColumns = 48;  // of a name, so that a sentence stays readable

// Returns "work (work.cpp:12)"; for paths "work (work.cpp:12) <- caller <- main", for a whole run "all of the
// run". At most `columns` wide (0: no limit), not counting the source line.
std::string format_row(const MatchedRuns& runs, const RunChange& change, size_t columns);

std::string format_p_value(double p);  // returns "p = 0.012" or "p < 0.0001"
std::string format_bound(double p);    // the same without its name: "0.012" or "< 0.0001"

// Returns "3 runs per side", "one run per side" or "3 runs before, one after".
std::string format_sides(const RunChanges& changes);

// Returns "8 ranks" or "2 threads".
std::string format_workers(const MatchedRuns& runs, uint64_t workers);

// Returns "1.38 s instead of 1.20 s, 180 ms more (x 1.15): 15 % of the total before, p = 0.001".
std::string format_total_change(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

// Explains how the differences were judged, and how to make the judgement more certain.
std::string format_judgement(const RunChanges& changes);

// Returns "strong scaling from 2 to 8 ranks: 62 % efficient".
std::string format_scaling(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

// Returns a line for a CI log: "regression: work (work.cpp:12) +15.3 % (1.20 s -> 1.38 s, 3 runs per side, p
// = 0.01)".
std::string regression_line(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change);

// Returns the function of a row and, for paths, its callers; innermost first.
std::vector<CodeFrame> frames_of_row(const MatchedRuns& runs, const RunChange& change);

}  // namespace prof
