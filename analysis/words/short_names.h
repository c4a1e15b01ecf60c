#pragma once
// Shortens names of functions to fit into a row.

#include <cstddef>
#include <string>
#include <string_view>

namespace prof {

// Returns a name that is at most `columns` (at least 5) wide. Replaces the least informative parts by "..."
// first: the parameters, the template arguments from the innermost ones on, then the namespaces from the
// outermost on. Keeps the function's own name while it fits, together with an operator's.
std::string shorten_name(std::string_view name, size_t columns);

}  // namespace prof
