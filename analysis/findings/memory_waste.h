#pragma once
// Dead stores, silent stores and redundant loads as findings: which two accesses, of which data, and what to
// change.

#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/run/memory_waste.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// The roles of a finding's contexts: "dead" and "killing", "stored" and "stored again", "loaded" and "loaded
// again".
struct WasteRoles {
  std::string first, second;
};
WasteRoles roles_of(hpcrun::WasteKind kind);

// Returns Finding::id of the two lines, whether they are worth a finding or not.
std::string memory_waste_id(const CallTree& tree, const WastePair& pair);

// Returns "Remove the clearing in mainSort (blocksort.c:1050), ...".
std::string memory_waste_advice(const CallTree& tree, const WastePair& pair);

// Returns the finding of two lines, whatever their share.
Finding memory_waste_finding(const CallTree& tree, const RunSummary& run, const WasteByLine& waste);

// Returns one finding for each two lines with a significant share of the bytes that were checked.
std::vector<Finding> memory_waste_findings(const CallTree& tree, const RunSummary& run);

}  // namespace prof
