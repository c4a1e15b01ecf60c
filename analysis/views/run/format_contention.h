#pragma once
// Formats contended data, and the extent of the search for contention.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns why contention is not known, with the remedy, as one line; nullopt if it was searched for.
std::optional<std::string> reason_no_contention(const RunSummary& run);

// Returns the method by which contention was found: "Intel PEBS", "decoded instructions and breakpoints".
std::vector<std::string> contention_sources(const RunSummary& run);

// Returns sentences on why data may be missing.
std::vector<std::string> contention_notes(const RunSummary& run);

// Returns "counters (count.cpp:1)" or "2 allocations of 64 B from make (main.cpp:7)".
std::string format_object(const CallTree& tree, const ContendedRecord& record);

// Returns the part of the data that a side uses: "counters[0].hits", "bytes 8 to 15 of object 2".
std::string format_part(const ContendedRecord& record, const ContendedRecord::Side& side);

// Formats counted writes, whose code is not known: "[1].hits, 4 bytes, 215 times".
std::string format_counted(const ContendedRecord::Side& side);

}  // namespace prof
