#pragma once
// Threads that wait without sleeping: workers of OpenMP and OpenBLAS spin in their library until other
// threads have finished, or there is work, and ranks spin in MPI until other ranks arrive. Samples show them
// at work, but no thread waits for them.

#include <string>
#include <string_view>

namespace prof {

// Returns the innermost function on a call path that is not the C library's, and its load module.
bool waits_in_team(const std::string& module_path, std::string_view function);

// True for functions of MPI that may wait for other ranks.
bool waits_for_ranks(std::string_view function);

// True for sched_yield() and similar functions: their caller shows their purpose.
bool is_c_library(const std::string& module_path);

}  // namespace prof
