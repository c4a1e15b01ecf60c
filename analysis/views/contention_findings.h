#pragma once
// Contention as reports show it: which data threads contend for, what that costs at most, and what to change.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/findings.h"

namespace prof {

// Why nothing is known of contention, with the remedy, as one line; nullopt where it was looked for.
std::optional<std::string> why_no_contention(const RunSummary& run);

// One for each piece of data, of the threads that are selected; in the order of RunSummary::contention.
std::vector<Finding> contention_findings(const CallTree& tree, const RunSummary& run);

// By what contention was looked for: "Intel PEBS", "decoded instructions and breakpoints".
std::vector<std::string> contention_sources(const RunSummary& run);

// Sentences on why data may be missing.
std::vector<std::string> contention_notes(const RunSummary& run);

// "counters (count.cpp:1)", "2 allocations of 64 B from make (main.cpp:7)"
std::string object_in_words(const CallTree& tree, const ContendedRecord& record);

// What a side uses of it: "counters[0].hits", "bytes 8 to 15 of object 2".
std::string part_in_words(const ContendedRecord& record, const ContendedRecord::Side& side);

// Of writes that were counted no code is known: "[1].hits, 4 bytes, 215 times".
std::string counted_in_words(const ContendedRecord::Side& side);

// The bytes of one cache line and what each thread does to them.
struct LinePicture {
  int64_t offset = 0;   // of the line's begin from the object's,
  uint64_t object = 0;  // of several allocations from that of the first on it (ContendedRecord::Side::object)
  struct Row {
    uint32_t profile = 0;
    std::string bytes;  // 64 letters: 'r', 'w', 'b' for both, '.' for nothing that was seen
  };
  std::vector<Row> rows;  // by profile
};

// By address.
std::vector<LinePicture> line_pictures(const ContendedRecord& record);

}  // namespace prof
