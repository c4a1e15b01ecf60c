#pragma once
// A place in code as sentences name it.

#include <string>
#include <vector>

#include "analysis/words/code_frame.h"

namespace prof {

// Of a call path, the innermost first, the first function that has a line outside the headers and sources of
// the system: those inlined from headers that came with the compiler help nobody. Not for an empty path.
const CodeFrame& telling_frame(const std::vector<CodeFrame>& frames);

// Of a system library's function, or the runtime's.
bool is_of_system(const CodeFrame& frame);

// The call path from the first function on that is not; the whole path where all are.
std::vector<CodeFrame> program_part(std::vector<CodeFrame> frames);

// "count (main.cpp:12)", without its parameters; "unknown code" if nothing is known.
std::string format_code(const std::vector<CodeFrame>& frames);

// The same without the place.
std::string format_function(const std::vector<CodeFrame>& frames);

}  // namespace prof
