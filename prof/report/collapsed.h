#pragma once
// Collapsed stacks, the input of flame graph tools: one line "root;caller;function value" per call path.

#include "analysis/views/call_tree.h"
#include "prof/report/output.h"

namespace prof {

// Values are exclusive costs of the first metric, as whole numbers: microseconds where it is a time. Paths
// whose value rounds to zero are left out. Semicolons and control characters in names become ':' and blanks.
void tree_as_collapsed(const CallTree& tree, Output& out);

}  // namespace prof
