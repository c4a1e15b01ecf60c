#pragma once
// Formats wasted stores and loads: how much there is, which code and which data it is.

#include <string>

#include "analysis/views/run/memory_waste.h"

namespace prof {

// Returns "Dead store", "Silent store" or "Redundant load".
std::string format_waste_kind(hpcrun::WasteKind kind);

// Returns "19 %"; for an estimate "19 % (16 to 23 %)".
std::string format_share(const WasteShare& share);

// Returns what a share is of: "all bytes written"; of an estimate, "sampled bytes written".
std::string format_checked(const WasteShare& share, hpcrun::WasteKind kind);

// Returns "quadrant[]", "memory allocated by make_table (table.cpp:12)", "stack memory" or "memory".
std::string format_wasted_data(const CallTree& tree, const WastePair& pair);

// Returns "quadrant[] is cleared by mainSort (blocksort.c:1050) and overwritten by mainSort
// (blocksort.c:1077) before it is read".
std::string format_waste(const CallTree& tree, const WastePair& pair);

// Returns "Dead stores: 19 % (16 to 23 %) of sampled bytes written: 1.2 KiB of 6.4 KiB, by 812 sampled
// stores; 40 more were not decided".
std::string format_waste_total(const MemoryWasteRecord& record, const WasteTotal& total);

}  // namespace prof
