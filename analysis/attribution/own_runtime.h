#pragma once
// The runtime that prof puts into measured programs, as their profiles show it: not by its own functions,
// which say nothing of the program, but as one function, "[prof]". Functions that intercept the program's,
// pthread_mutex_lock for instance, keep their names. Those of the allocator do not: the allocator's own come
// next on the call path.

#include <string_view>

#include "analysis/attribution/attribution.h"

namespace prof {

// Whether a module is the runtime or one of the libraries that come with it.
bool is_own_runtime(std::string_view module_path);

// Whether it is the one that intercepts the allocator. What its functions call is shown as called by their
// callers.
bool is_allocator_front(std::string_view module_path);

// `attributed`, which is of the module with this path, one of the runtime's, with one function at each
// address and without source lines.
AttributedModule fold_own_functions(const AttributedModule& attributed, std::string_view module_path);

// Whether fold_own_functions() made a function of this name from the module's own: where it calls itself,
// that is one call.
bool is_folded_function(std::string_view function);

}  // namespace prof
