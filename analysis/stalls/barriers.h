#pragma once
// Which contexts are inside a barrier or a collective operation: by the names of the functions on their call
// path.

#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Shell patterns of the functions that are known: MPI, NCCL, SHMEM, OpenMP of GCC and LLVM, pthread, C++.
const std::vector<std::string>& known_barriers();

// For each context whether it, or one that it lies in or was called from, is a function that one of the known
// patterns or one of `more` matches. The parameters of C++ functions and the versions of symbols
// ("wait@@GLIBC_2.34") need not be matched.
std::vector<bool> contexts_in_barriers(const Database& database, const std::vector<std::string>& more);

}  // namespace prof
