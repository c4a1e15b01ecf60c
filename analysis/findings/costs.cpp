#include "analysis/findings/costs.h"

#include "analysis/views/tree/wording.h"

namespace prof {

Severity severity_of(double value, double medium, double high) {
  return value >= high ? Severity::High : value >= medium ? Severity::Medium : Severity::Low;
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
