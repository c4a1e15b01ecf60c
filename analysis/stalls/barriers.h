#pragma once
// Which contexts are inside a barrier or a collective operation: by the names of the functions on their call
// path.

#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Shell patterns of the functions that are known: MPI, NCCL, SHMEM, OpenMP of GCC and LLVM, pthread, C++.
const std::vector<std::string>& known_barriers();

// Those in which a process waits for its children.
const std::vector<std::string>& known_child_waits();

// Those in which a thread is blocked although samples interrupt them: the kernel goes on with the wait.
// (Calls that would return early are not interrupted; their whole length is one interval.)
const std::vector<std::string>& known_blocking_calls();

// What programs call a function of the C library by: "wait4" for its debug information's "__GI___wait4".
std::string public_name(const std::string& name);

// For each context whether it, or one that it lies in or was called from, is a function that one of the
// patterns matches. The parameters of C++ functions, the versions of symbols ("wait@@GLIBC_2.34") and what is
// before a public name need not be matched.
std::vector<bool> contexts_in(const Database& database, const std::vector<std::string>& patterns);

}  // namespace prof
