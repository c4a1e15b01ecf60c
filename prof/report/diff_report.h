#pragma once
// `prof diff BEFORE AFTER`: compares two groups of runs. The caller reads the databases and chooses the
// output.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "analysis/views/compare/run_changes.h"

namespace CLI {
class App;
}

namespace prof {

enum class DiffFormat : uint8_t { Text, Json };

struct DiffOptions {
  std::string before, after;                         // one database or directory, or a comma-separated list
  std::vector<std::string> before_runs, after_runs;  // the same, split
  RunChangeOptions changes;
  std::string metric;  // empty: the first one
  double threshold_percent = 2;
  std::optional<double> fail_percent;  // --fail-on-regress
  uint32_t limit = 10;                 // rows of each kind, in text
  DiffFormat format = DiffFormat::Text;
};

constexpr int kRegressed = 3;  // exit status of --fail-on-regress

void add_diff_options(CLI::App& command, DiffOptions& options);

// Prints the changes, and with --fail-on-regress a line for each regression on standard error. Returns 0,
// kRegressed, or kOwnFailure if the output cannot be written.
int diff(const MatchedRuns& runs, const DiffOptions& options, std::FILE* out, bool colour);

}  // namespace prof
