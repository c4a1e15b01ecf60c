#pragma once
// One problem that a profile shows, described by a sentence, with the problem's cost, contexts and advice. A
// finding is made only if the data supports it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings/finding_kind.h"
#include "analysis/words/code_frame.h"

namespace prof {

struct FindingContext {
  std::string role;               // "hottest", "caller"
  std::vector<CodeFrame> frames;  // the innermost first
  bool is_subject = false;        // the finding is about this context; if none is marked, about the first
};

struct FindingCost {
  double value = 0;
  std::string unit;
  double share_of_run = 0;  // 0..1
  std::string basis;        // how the value was obtained
};

// What removing the cause saves, in seconds. If `cost` is a time, it is the same kind of time.
struct FindingSaving {
  double low_s = 0, high_s = 0;  // for an estimate, the 90 % interval; for a bound, 0 and the upper bound
  bool is_bound = true;          // true: high_s is an upper bound; false: an estimate
  std::string basis;             // how it was obtained
};

struct Finding {
  std::string id;  // identifies the finding (finding_id.h); put_in_order() assigns missing ones
  FindingKind kind = FindingKind::HotPath;
  Severity severity = Severity::Low;
  std::string metric;  // empty if about the measurement itself, not the program
  std::optional<FindingCost> cost;
  std::optional<FindingSaving> saving;  // none if not known in seconds, or if there is nothing to remove
  std::string sentence;
  std::vector<FindingContext> contexts;
  std::string advice;
  std::map<std::string, double> values;  // the numbers behind the sentence, by name (docs/json.md)
};

}  // namespace prof
