#include "analysis/findings/costs.h"

#include <utility>

#include "analysis/views/tree/wording.h"

namespace prof {

Severity severity_of(double value, double medium, double high) {
  return value >= high ? Severity::High : value >= medium ? Severity::Medium : Severity::Low;
}

FindingSaving at_most(double seconds, std::string basis) {
  return {0, seconds, true, std::move(basis)};
}

Finding costed_finding(const CallTree& tree, FindingKind kind, const Metric& metric, double value) {
  Finding finding;
  finding.kind = kind;
  finding.metric = metric.name;
  finding.cost = FindingCost{value, metric.unit, tree.share(value, 0),
                             is_time(metric) ? "clock time between samples" : "sampled events"};
  return finding;
}

}  // namespace prof
