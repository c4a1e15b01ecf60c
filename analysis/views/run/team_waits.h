#pragma once
// Threads that wait without sleeping: workers of OpenMP and OpenBLAS spin in their library until others have
// finished, or there is work, and ranks in MPI until others come. Samples see them at work; they keep nobody
// waiting.

#include <string>
#include <string_view>

namespace prof {

// Of the innermost function on a call path that is not the C library's, and its load module.
bool waits_in_team(const std::string& module_path, std::string_view function);

// True for functions of MPI that may wait for other ranks.
bool waits_for_ranks(std::string_view function);

// sched_yield() and the like: what called it says what for.
bool is_c_library(const std::string& module_path);

}  // namespace prof
