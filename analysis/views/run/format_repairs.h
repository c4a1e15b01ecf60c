#pragma once
// Formats the repairs that were made while a program ran.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns one line: "1 site after 0.6 s: 1234 allocations placed, 64 KiB of padding; 3 locks moved". Empty if
// no repair was requested.
std::string repairs_in_short(const RepairsRecord& repairs);

// Returns a sentence for each site that was placed or declined, and for the outcome for locks.
std::vector<std::string> format_repairs(const CallTree& tree, const RepairsRecord& repairs);

// docs/json.md, "Repairs".
nlohmann::ordered_json repairs_as_json(const CallTree& tree, const RepairsRecord& repairs);

}  // namespace prof
