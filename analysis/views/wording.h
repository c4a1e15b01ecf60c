#pragma once
// How numbers, places and metrics are put into words, the same in every report. Plain ASCII; never "nan" or
// "inf".

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/database/model.h"
#include "analysis/views/places.h"

namespace prof {

std::string words_for_duration(double seconds);                        // "3 ms", "4.02 s", "12 min 5 s"
std::string words_for_bytes(double bytes);                             // "640 B", "2.1 MiB"
std::string words_for_percent(double share);                           // 0..1: "62 %", "6.2 %", "< 0.1 %"
std::string words_for_count(uint64_t count, const std::string& noun);  // "1 thread", "2 threads"
std::string words_for_metric(const Metric& metric);                    // "the CPU time", "all PAGE_FAULTS"
// Where an allocation was placed, as a hpcrun::Placement: "at a multiple of 64 bytes, padded to whole lines"
std::string words_for_placement(uint64_t align, uint64_t offset, uint64_t pad);
bool is_time(const Metric& metric);  // else it counts, and its words are plural

std::string base_name(const std::string& path);
// "sum.cpp:14", the file without its folders; empty where the place is not known.
std::string words_for_place(const Database& database, const Place& place);
// "sum.cpp:14 (80 %)" where only this share of a cost (0..1) is at the place.
std::string words_for_place(const Database& database, const Place& place, double share);
bool is_all(double share);  // true where it would be printed as 100 %

// "libc.so.6", the module of a function; empty where it is not known or the name says it already.
std::string words_for_module(const Database& database, const Frame& frame);

// True where the name is the function's own, not made up of the module or of why there is none ("app+0x1500",
// "[libz.so.1]", "[jit]").
bool has_symbol(const Database& database, const Frame& frame);

// Characters that a terminal shows one column each (UTF-8 code points).
size_t columns_of(std::string_view text);
// At most `columns` (at least 5) wide: what is in the middle of a longer text becomes "...".
std::string shorten_middle(std::string_view text, size_t columns);

}  // namespace prof
