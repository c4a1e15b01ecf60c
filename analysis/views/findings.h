#pragma once
// Findings: what a profile means, one plain sentence each. A finding is made only where the data supports it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/views/call_tree.h"
#include "analysis/views/finding_kind.h"
#include "analysis/views/hot_path.h"
#include "analysis/views/run_summary.h"

namespace prof {

enum class Severity : uint8_t { Low, Medium, High };

struct FindingFrame {
  std::string function, file, module;  // empty where not known; file and module with their folders
  uint32_t line = 0;                   // 0: not known
};

struct FindingContext {
  std::string role;                  // "hottest", "caller"
  std::vector<FindingFrame> frames;  // the innermost first
  bool is_subject = false;           // what the finding is about, where that is not the first one
};

struct FindingCost {
  double value = 0;
  std::string unit;
  double share_of_run = 0;  // 0..1
  std::string basis;        // how the value was obtained
};

struct Finding {
  std::string
      id;  // what it is selected by (finding_id.h); find() and add_findings() give those one that have none
  FindingKind kind = FindingKind::HotPath;
  Severity severity = Severity::Low;
  std::string metric;  // empty where the finding is about the measurement
  std::optional<FindingCost> cost;
  std::string sentence;
  std::vector<FindingContext> contexts;
  std::string advice;
  std::map<std::string, double> values;
};

std::string severity_name(Severity severity);

// By falling severity, then by falling cost; those that are about the measurement last.
std::vector<Finding> find(const CallTree& tree, const RunSummary& run);

// Puts more findings into this order; of equal ones those that were there come first.
void add_findings(std::vector<Finding>& findings, std::vector<Finding> more);

}  // namespace prof
