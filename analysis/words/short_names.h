#pragma once
// Names of functions that fit into a row.

#include <cstddef>
#include <string>
#include <string_view>

namespace prof {

// At most `columns` (at least 5) wide. What says least about which function it is becomes "..." first: the
// parameters, the template arguments from the innermost ones on, then the namespaces from the outermost on.
// The function's own name is kept while it fits, and an operator's with it.
std::string shorten_name(std::string_view name, size_t columns);

}  // namespace prof
