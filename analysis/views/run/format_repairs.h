#pragma once
// What was re-laid out while a program ran, as reports say it.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// In one line: "1 site after 0.6 s: 1234 allocations placed, 64 KiB of padding; 3 locks moved". Empty if
// nothing was to be repaired.
std::string repairs_in_short(const RepairsRecord& repairs);

// Each site that was placed or declined, and what became of locks, a sentence each.
std::vector<std::string> format_repairs(const CallTree& tree, const RepairsRecord& repairs);

// docs/json.md, "Repairs".
nlohmann::ordered_json repairs_as_json(const CallTree& tree, const RepairsRecord& repairs);

}  // namespace prof
