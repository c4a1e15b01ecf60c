#pragma once
// How a run is spelt in JSON, as run.json has it under "summary" (docs/database.md): the one writer and the
// one reader. What the keys mean says docs/json.md.

#include <nlohmann/json_fwd.hpp>

#include "analysis/run/run_summary.h"

namespace prof {

// Texts are what they are in the record, which need not be UTF-8.
nlohmann::json run_as_json(const RunSummary& run);

// Never fails: what is missing, has another form or is out of any sensible range is not known. Strays are
// left out.
RunSummary run_in(const nlohmann::json& json, RunLimits limits);

}  // namespace prof
