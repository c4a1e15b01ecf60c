#pragma once
// Which function's instructions to show of what somebody looks at: where code was inlined, the one that it
// was inlined into.

#include "analysis/disassembly/disassembly.h"
#include "analysis/views/call_tree.h"

namespace prof {

// Of the functions that have code of a source line, that in which most was spent there, by that metric; where
// nothing was spent, any. No module: there is none, or it is of a run that the database's is compared with.
CodePlace code_of_line(const CallTree& tree, uint32_t file, uint32_t line, size_t metric);

// Of a frame that is a function, its own code; of one that only occurs inlined, that in which most of it was.
CodePlace code_of_frame(const CallTree& tree, uint32_t frame, size_t metric);

}  // namespace prof
