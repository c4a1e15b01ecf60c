#pragma once
// Call paths as sentences, findings and pages show them: functions with their lines, the innermost first.
// Pure functions.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/tree/source_locations.h"
#include "analysis/words/code_frame.h"

namespace prof {

// The function of a frame (an index into CallTree::frames), at a location in it.
CodeFrame code_frame(const CallTree& tree, uint32_t frame, const SourceLocation& location);

// The call path of a context, the innermost frame first, without the entry point. Each frame has the line at
// which it calls the next one.
std::vector<CodeFrame> frames_of(const CallTree& tree, uint32_t context);

// The function as the program's author knows it: of the C library the public name.
std::string public_name_of(const CodeFrame& frame);

// "late_wakeup (stall.cpp:40)"
std::string format_frame(const CodeFrame& frame);

// The nearest caller of which the source is known; else the nearest one. nullptr if there is none. Points
// into `frames`.
const CodeFrame* telling_caller(const std::vector<CodeFrame>& frames);

// "clock_nanosleep <- late_wakeup (stall.cpp:40)": the function and its next caller with a source line.
std::string format_call(const std::vector<CodeFrame>& frames);

}  // namespace prof
