#pragma once
// Finds contexts inside a barrier or a collective operation, by the names of the functions on their call
// path.

#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Shell patterns of known barriers and collectives: MPI, NCCL, SHMEM, OpenMP of GCC and LLVM, pthread, C++.
const std::vector<std::string>& known_barriers();

// Functions in which a process waits for its children.
const std::vector<std::string>& known_child_waits();

// Functions in which a thread is blocked although samples interrupt them: the kernel resumes the wait. (Calls
// that would return early are not interrupted; their whole length is one interval.)
const std::vector<std::string>& known_blocking_calls();

// Returns the name by which programs call a function of the C library: "wait4" for "__GI___wait4" in its
// debug information.
std::string public_name(const std::string& name);

// Returns, for each context, whether it, an enclosing one or a caller is a function that matches one of the
// patterns. Patterns need not match the parameters of C++ functions, versions of symbols
// ("wait@@GLIBC_2.34"), or what precedes a public name.
std::vector<bool> contexts_in(const Database& database, const std::vector<std::string>& patterns);

}  // namespace prof
