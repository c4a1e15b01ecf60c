#pragma once
// Formats numbers, shares and lists, in the same way for every report. Plain ASCII; never "nan" or "inf".
// Pure functions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

std::string format_duration(double seconds);                        // "3 ms", "4.02 s", "12 min 5 s"
std::string format_bytes(double bytes);                             // "640 B", "2.1 MiB"
std::string format_percent(double share);                           // 0..1: "62 %", "6.2 %", "< 0.1 %"
std::string format_count(uint64_t count, const std::string& noun);  // "1 thread", "2 threads"
// Formats a hpcrun::Placement: "at a multiple of 64 bytes, padded to whole lines"
std::string format_placement(uint64_t align, uint64_t offset, uint64_t pad);
// Formats ascending numbers as a list: "0-3, 7 and 9-12"; beyond `most` parts, "0-3, 7 and 120 more".
std::string format_ranks(const std::vector<int32_t>& ranks, size_t most = 6);
bool is_all(double share);  // true if it would be printed as 100 %

std::string base_name(const std::string& path);

// Returns the number of characters that a terminal shows in one column each (UTF-8 code points).
size_t columns_of(std::string_view text);
// Shortens a text to `columns` (at least 5) by replacing its middle with "...".
std::string shorten_middle(std::string_view text, size_t columns);

}  // namespace prof
