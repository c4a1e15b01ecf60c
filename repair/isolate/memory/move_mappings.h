#pragma once
// Moves what a process has mapped into common memory, in place. No other thread of the process may run.

#include "repair/isolate/memory/common_state.h"

namespace hpcrun {

// Moves all private mappings that the process can write or come to write; relocated data that is read-only by
// now stays (relro). All signals must be blocked. `left_file` is a file of common memory that was left, with
// its inode, or -1 and 0; also -1 and its inode, where the program has closed it. nullptr, or why not: some
// may have been moved then.
const char* move_mappings(int left_file, uint64_t left_inode) noexcept;

// After the file was left, and with its tables still there: what is in use of it becomes private anonymous
// memory. `file` is as above. False: the kernel refused; some may have been moved then.
bool move_mappings_back(int file) noexcept;

}  // namespace hpcrun
