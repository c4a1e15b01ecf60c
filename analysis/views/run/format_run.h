#pragma once
// Formats the run and the quality of its measurement, for all summaries. Parts that were not recorded are
// left out; a text without any parts is empty.

#include <cstddef>
#include <string>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns ", killed by SIGSEGV" or ", exit status 0", to follow the command.
std::string format_ending(const RunSummary& run);

// Returns "4.02 s, 8 s of CPU time, 1 process, 2 threads on build1".
std::string format_ran(const RunSummary& run);

// Returns what the selection leaves out: "CPUTIME, 1 of 2 threads: 0 sum"; empty if it has everything.
std::string format_selected(const CallTree& tree);

// Returns "640 of 1000 samples/s, 5120 samples, by perf cpu-clock", for the first metric that is shown.
std::string format_sampled(const CallTree& tree, const RunSummary& run);

// Returns "3 s, excluded from the measurement".
std::string format_paused(const RunSummary& run);

// Returns "80 samples"; the reasons follow by format_reasons().
std::string format_dropped(const RunSummary& run);

// Returns "88 % complete, 12 % broken"; likewise.
std::string format_stacks(const RunSummary& run);

// Returns ": 614 because the return address is not in code", with at most so many of the most frequent
// reasons.
std::string format_reasons(const Reasons& reasons, size_t limit);

// Returns "about 80 ms of CPU time (1.0 %), 2.1 MiB of memory".
std::string format_overhead(const RunSummary& run);

}  // namespace prof
