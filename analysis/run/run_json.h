#pragma once
// Writes and reads a run as JSON: "summary" in run.json (docs/database.md). docs/json.md describes the keys.

#include <nlohmann/json_fwd.hpp>

#include "analysis/run/run_summary.h"

namespace prof {

// Texts are those of the record, which need not be UTF-8.
nlohmann::json run_as_json(const RunSummary& run);

// Never fails: a value that is missing, of another form or outside its plausible range is left unset. Invalid
// references are removed.
RunSummary run_in(const nlohmann::json& json, RunLimits limits);

}  // namespace prof
