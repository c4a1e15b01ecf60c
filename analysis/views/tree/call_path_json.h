#pragma once
// Formats call paths as JSON (docs/json.md), for findings, repairs and tables.

#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/words/code_frame.h"

namespace prof {

nlohmann::ordered_json frames_as_json(const std::vector<CodeFrame>& frames);

}  // namespace prof
