#pragma once
// Findings of test databases.

#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "tests/report/database_builder.h"

namespace prof::test {

std::vector<Finding> findings_of(const Database& database);

using Kinds = std::vector<std::string>;
Kinds kinds(const std::vector<Finding>& findings);

// Returns a run without findings other than those that `json`, its run.json, causes.
Database flawless(const std::string& json = "{}");

// Returns the sentence of the only finding of flawless(json), or an empty string.
std::string only_sentence(const std::string& json);

}  // namespace prof::test
