#pragma once
// Findings of databases that tests make.

#include <string>
#include <vector>

#include "analysis/views/findings.h"
#include "tests/report/database_builder.h"

namespace prof::test {

std::vector<Finding> findings_of(const Database& database);

using Kinds = std::vector<std::string>;
Kinds kinds(const std::vector<Finding>& findings);

// A run in which nothing but what `json`, its run.json, says is noteworthy.
Database flawless(const std::string& json = "{}");

// The sentence of the one finding of flawless(json); empty if there is none.
std::string only_sentence(const std::string& json);

}  // namespace prof::test
