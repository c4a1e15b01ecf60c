#pragma once
// Moves the mappings of a process into common memory, in place. No other thread of the process may run.

#include "repair/isolate/memory/common_state.h"

namespace hpcrun {

// Moves all private mappings that are writable or may become so; relocated data that is now read-only stays
// (relro). All signals must be blocked. `left_file` and `left_inode` are those of a file of common memory
// that was left: -1 and 0 if there is none, -1 and its inode if the program has closed it. Returns nullptr,
// or the reason for a failure; some mappings may have been moved then.
const char* move_mappings(int left_file, uint64_t left_inode) noexcept;

// Makes private anonymous memory of what is in use of the file. Must be called after the file was left, while
// its tables are still there. `file` is as above. Returns false if the kernel refused; some mappings may have
// been moved then.
bool move_mappings_back(int file) noexcept;

}  // namespace hpcrun
