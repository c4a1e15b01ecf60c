#pragma once
// What changed from some runs to some others, in words: the same in text, JSON and CI logs.

#include <string>
#include <vector>

#include "analysis/views/compare/run_changes.h"
#include "analysis/words/code_frame.h"

namespace prof {

constexpr size_t kSentenceColumns = 48;  // of a name: a sentence stays readable

// "work (work.cpp:12)"; of paths "work (work.cpp:12) <- caller <- main", of a run as a whole "all of the
// run". At most `columns` wide (0: no limit) but for the place.
std::string format_row(const MatchedRuns& runs, const RunChange& change, size_t columns);

std::string format_p_value(double p);  // "p = 0.012", "p < 0.0001"
std::string format_bound(double p);    // the same without its name: "0.012", "< 0.0001"

// "3 runs per side", "one run per side", "3 runs before, one after".
std::string format_sides(const RunChanges& changes);

// "8 ranks", "2 threads".
std::string format_workers(const MatchedRuns& runs, uint64_t workers);

// "1.38 s instead of 1.20 s, 180 ms more (x 1.15): 15 % of the total before, p = 0.001".
std::string format_total_change(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

// How the differences were judged, and what makes it more certain.
std::string format_judgement(const RunChanges& changes);

// "strong scaling from 2 to 8 ranks: 62 % efficient".
std::string format_scaling(const MatchedRuns& runs, const RunChanges& changes, Scaling scaling);

// One line of a CI log: "regression: work (work.cpp:12) +15.3 % (1.20 s -> 1.38 s, 3 runs per side, p =
// 0.01)".
std::string regression_line(const MatchedRuns& runs, const RunChanges& changes, const RunChange& change);

// The function of a row and, of paths, its callers; innermost first.
std::vector<CodeFrame> frames_of_row(const MatchedRuns& runs, const RunChange& change);

}  // namespace prof
