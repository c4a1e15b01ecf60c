#pragma once
// Small files of /proc, without the C library's streams, which the program may have replaced.

#include <cstddef>

namespace hpcrun {

// Reads a whole file, at most `bytes`; the length read, 0 when there is none. Does not terminate it.
// Async-signal-safe.
size_t read_proc(const char* path, char* out, size_t bytes) noexcept;

}  // namespace hpcrun
