#pragma once
// run.json: data that the format has no place for. An object {"schema", "summary": Database::run
// (analysis/run/run_json.h), "metrics": [{"name", "unit", "description"}], "profiles": [{"host", "rank",
// "process", "thread", "name", "samples"}]}, with metrics and profiles in the order of the database.

#include <string_view>

namespace prof {

constexpr std::string_view kRunSchema = "prof-run/1";

}  // namespace prof
