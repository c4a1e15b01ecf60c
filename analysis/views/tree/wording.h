#pragma once
// How metrics, locations and names of functions are put into words, the same in every report. Plain ASCII.

#include <string>

#include "analysis/database/model.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/words/numbers.h"

namespace prof {

std::string format_metric(const Metric& metric);     // "the CPU time", "all PAGE_FAULTS"
bool is_time(const Metric& metric);                  // else it counts, and its words are plural

// "sum.cpp:14", the file without its folders; empty if the location is not known.
std::string format_location(const Database& database, const SourceLocation& location);
// "sum.cpp:14 (80 %)" where only this share of a cost (0..1) is at the location.
std::string format_location(const Database& database, const SourceLocation& location, double share);

// "libc.so.6", the module of a function; empty if it is not known or the name says it already.
std::string format_module(const Database& database, const Frame& frame);

// True if the name is the function's own, not made up of the module or of why there is none ("app+0x1500",
// "[libz.so.1]", "[jit]").
bool has_symbol(const Database& database, const Frame& frame);

}  // namespace prof
