#pragma once
// Chooses the function whose instructions to show for a selection. If code was inlined, that is the function
// that it was inlined into.

#include "analysis/disassembly/disassembly.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

// Returns the function with the highest cost by that metric among those that have code of a source line; any
// of them if all cost nothing. Returns no module if there is none, or if it belongs to a run that the
// database's is compared with.
CodeLocation code_of_line(const CallTree& tree, uint32_t file, uint32_t line, size_t metric);

// Returns a function's own code for its frame; for one that only occurs inlined, the function that contains
// most of it.
CodeLocation code_of_frame(const CallTree& tree, uint32_t frame, size_t metric);

}  // namespace prof
