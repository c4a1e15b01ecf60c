#pragma once
// Formats call paths for sentences, findings and pages: functions with their lines, the innermost first. Pure
// functions.

#include <optional>
#include <string>
#include <vector>

#include "analysis/views/tree/source_locations.h"
#include "analysis/words/code_frame.h"

namespace prof {

// Returns the function of a frame (an index into CallTree::frames), at a location in it.
CodeFrame code_frame(const CallTree& tree, uint32_t frame, const SourceLocation& location);

// Returns the call path of a context, the innermost frame first, without the entry point. Each frame has the
// line at which it calls the next one.
std::vector<CodeFrame> frames_of(const CallTree& tree, uint32_t context);

// Returns the function under the name that the program's author uses: for the C library, the public one.
std::string public_name_of(const CodeFrame& frame);

// Returns "late_wakeup (stall.cpp:40)".
std::string format_frame(const CodeFrame& frame);

// Returns the nearest caller whose source is known; otherwise the nearest one. Returns nullptr if there is no
// caller. Points into `frames`.
const CodeFrame* telling_caller(const std::vector<CodeFrame>& frames);

// Returns "clock_nanosleep <- late_wakeup (stall.cpp:40)": the function and its next caller with a source
// line.
std::string format_call(const std::vector<CodeFrame>& frames);

}  // namespace prof
