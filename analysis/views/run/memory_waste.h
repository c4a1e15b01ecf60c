#pragma once
// Wasted stores and loads as tables: their share of all accesses, and pairs summed by source line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"
#include "analysis/words/code_frame.h"

namespace prof {

// Returns why wasted accesses are not known, with the remedy, as one line; nullopt if they were searched for.
std::optional<std::string> reason_no_memory_waste(const RunSummary& run);

// A share of bytes, 0..1.
struct WasteShare {
  double value = 0;
  double low = 0, high = 0;  // the 90 % interval of an estimate; otherwise the value
  bool is_estimate = false;  // the accesses were sampled
};

// Returns the share of `bytes` in the bytes of all accesses that were checked. The interval is Wilson's, from
// the number of accesses that were decided.
WasteShare waste_share(const MemoryWasteRecord& record, const WasteTotal& total, uint64_t bytes);

// Returns nullptr if this kind of waste was not searched for.
const WasteTotal* total_of(const MemoryWasteRecord& record, hpcrun::WasteKind kind);

// Returns the call paths of the two accesses, the innermost frame first.
struct WastePaths {
  std::vector<CodeFrame> first, second;
};
WastePaths paths_of(const CallTree& tree, const WastePair& pair);

// True if both accesses are at the same source line.
bool is_one_line(const WastePaths& paths);

// Returns the context of the access that was wasted.
uint32_t wasted_context(const WastePair& pair);

// Pairs of the same two source lines, by whatever call paths they were reached.
struct WasteByLine {
  const WastePair* main = nullptr;  // the pair with the most bytes
  uint64_t call_paths = 0;          // pairs of call paths
  uint64_t count = 0, bytes = 0;
};

// Returns the sums with the largest share first, each of the bytes checked for its kind. They refer to `run`.
std::vector<WasteByLine> waste_by_line(const CallTree& tree, const RunSummary& run);

// Returns the CPU time at the lines of both accesses, over all call paths, in seconds; nullopt if it was not
// measured, or is not selected. Both, because without the wasted access the other one may run faster as well:
// its data are no longer evicted or waited for.
std::optional<double> cpu_time_at_waste(const CallTree& tree, const WastePair& pair);

}  // namespace prof
