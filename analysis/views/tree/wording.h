#pragma once
// Formats metrics, locations and names of functions, for all reports. Plain ASCII.

#include <string>

#include "analysis/database/model.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/words/numbers.h"

namespace prof {

std::string format_metric(const Metric& metric);  // "the CPU time" or "all PAGE_FAULTS"
bool is_time(const Metric& metric);               // if false, it counts, and its words are plural

// Returns "sum.cpp:14", the file without its folders; empty if the location is not known.
std::string format_location(const Database& database, const SourceLocation& location);
// Returns "sum.cpp:14 (80 %)" if only this share of a cost (0..1) is at the location.
std::string format_location(const Database& database, const SourceLocation& location, double share);

// Returns "libc.so.6", the module of a function; empty if it is not known or part of the name.
std::string format_module(const Database& database, const Frame& frame);

// True if the name is the function's own. False if it was derived from the module, or says why there is no
// name ("app+0x1500", "[libz.so.1]", "[jit]").
bool has_symbol(const Database& database, const Frame& frame);

}  // namespace prof
