#include "analysis/findings/order.h"

#include <algorithm>
#include <iterator>

#include "analysis/findings/finding_id.h"

namespace prof {
namespace {

// True for findings that explain the cost and how to reduce it; a hot spot only shows the place.
bool names_a_cause(const Finding& finding) {
  return finding.cost && !finding.advice.empty() && finding.kind != FindingKind::LineInformation;
}

}  // namespace

void put_in_order(std::vector<Finding>& findings) {
  for (Finding& finding : findings)
    if (finding.id.empty())
      finding.id = finding_id(finding.kind, finding.contexts.empty() ? std::vector<CodeFrame>{}
                                                                     : finding.contexts.front().frames);
  const auto is_of_program = [](const Finding& finding) {
    return finding.cost.has_value() && finding.kind != FindingKind::LineInformation;
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    if (is_of_program(a) != is_of_program(b)) return is_of_program(a);
    if (a.severity != b.severity) return a.severity > b.severity;
    if (names_a_cause(a) != names_a_cause(b)) return names_a_cause(a);
    return (a.cost ? a.cost->share_of_run : 0) > (b.cost ? b.cost->share_of_run : 0);
  });
}

void add_findings(std::vector<Finding>& findings, std::vector<Finding> more) {
  std::ranges::move(more, std::back_inserter(findings));
  put_in_order(findings);
}

}  // namespace prof
