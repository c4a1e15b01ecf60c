#pragma once
// Formats a place in code for sentences.

#include <string>
#include <vector>

#include "analysis/words/code_frame.h"

namespace prof {

// Returns the first function of a call path, the innermost first, that has a line outside the headers and
// sources of the system. Functions inlined from the compiler's headers do not help the reader. The path must
// not be empty.
const CodeFrame& telling_frame(const std::vector<CodeFrame>& frames);

// True for functions of system libraries and of the runtime.
bool is_of_system(const CodeFrame& frame);

// Returns the call path from the first function on for which that is false; the whole path if there is none.
std::vector<CodeFrame> program_part(std::vector<CodeFrame> frames);

// Returns "count (main.cpp:12)", without parameters; "unknown code" if nothing is known.
std::string format_code(const std::vector<CodeFrame>& frames);

// Omits the place.
std::string format_function(const std::vector<CodeFrame>& frames);

}  // namespace prof
