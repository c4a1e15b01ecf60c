#pragma once
// Contended data in words, and how far contention was searched.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Why nothing is known of contention, with the remedy, as one line; nullopt if it was looked for.
std::optional<std::string> reason_no_contention(const RunSummary& run);

// By what contention was looked for: "Intel PEBS", "decoded instructions and breakpoints".
std::vector<std::string> contention_sources(const RunSummary& run);

// Sentences on why data may be missing.
std::vector<std::string> contention_notes(const RunSummary& run);

// "counters (count.cpp:1)", "2 allocations of 64 B from make (main.cpp:7)"
std::string format_object(const CallTree& tree, const ContendedRecord& record);

// What a side uses of it: "counters[0].hits", "bytes 8 to 15 of object 2".
std::string format_part(const ContendedRecord& record, const ContendedRecord::Side& side);

// Of writes that were counted no code is known: "[1].hits, 4 bytes, 215 times".
std::string format_counted(const ContendedRecord::Side& side);

}  // namespace prof
