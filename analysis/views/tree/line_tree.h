#pragma once
// The call tree split by source lines: its nodes are functions at one line each, the line that calls the next
// function or spends the cost. A view of it has a row for each line; a view of the call tree has one for each
// function.

#include "analysis/views/tree/call_tree.h"

namespace prof {

// Frames keep the function's name, module and offset; their file and line are those of the source line, and
// not known for code without line information. The totals stay those of the tree.
CallTree split_by_line(CallTree tree);

}  // namespace prof
