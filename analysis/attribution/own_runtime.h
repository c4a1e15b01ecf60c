#pragma once
// Shows the runtime, which prof loads into measured programs, as one function "[prof]" in profiles. Its own
// functions are of no interest there. Functions that intercept the program's calls, such as
// pthread_mutex_lock, keep their names. Those of the allocator do not, because the allocator's own functions
// follow on the call path.

#include <string_view>

#include "analysis/attribution/attribution.h"

namespace prof {

// True if the module is the runtime or one of the libraries that come with it.
bool is_own_runtime(std::string_view module_path);

// True if the module intercepts the allocator. Callees of its functions are displayed as callees of the
// caller.
bool is_allocator_front(std::string_view module_path);

// Returns `attributed`, the functions of the runtime's module with this path, with one function at each
// address and without source lines.
AttributedModule fold_own_functions(const AttributedModule& attributed, std::string_view module_path);

// True if fold_own_functions() made a function of this name from the module's own. If it calls itself, that
// is one call.
bool is_folded_function(std::string_view function);

}  // namespace prof
