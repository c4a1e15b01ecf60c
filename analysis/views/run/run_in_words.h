#pragma once
// What ran and how well it was measured, in the words of every summary. Parts that were not recorded are left
// out; a text of nothing else is empty.

#include <cstddef>
#include <string>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// ", killed by SIGSEGV", ", exit status 0": follows the command.
std::string ending_in_words(const RunSummary& run);

// "4.02 s, 8 s of CPU time, 1 process, 2 threads on build1"
std::string ran_in_words(const RunSummary& run);

// What the selection leaves out: "CPUTIME, 1 of 2 threads: 0 sum"; empty if it has everything.
std::string selected_in_words(const CallTree& tree);

// "640 of 1000 samples/s, 5120 samples, by perf cpu-clock": of the first metric that is shown.
std::string sampled_in_words(const CallTree& tree, const RunSummary& run);

// "3 s, in which nothing was measured"
std::string paused_in_words(const RunSummary& run);

// "80 samples"; the reasons follow by reasons_in_words().
std::string dropped_in_words(const RunSummary& run);

// "88 % complete, 12 % broken"; likewise.
std::string stacks_in_words(const RunSummary& run);

// ": 614 because the return address is not in code": the most frequent ones, so many at most.
std::string reasons_in_words(const Reasons& reasons, size_t limit);

// "about 80 ms of CPU time (1.0 %), 2.1 MiB of memory"
std::string overhead_in_words(const RunSummary& run);

}  // namespace prof
