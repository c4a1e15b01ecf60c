#pragma once
// Findings as JSON (docs/json.md), the same in every report and in findings.sqlite.

#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/findings/finding.h"

namespace prof {

nlohmann::ordered_json finding_as_json(const Finding& finding);
nlohmann::ordered_json findings_as_json(const std::vector<Finding>& findings);

}  // namespace prof
