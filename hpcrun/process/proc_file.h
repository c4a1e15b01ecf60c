#pragma once
// Reads small files of /proc without the C library's streams, which the program may have replaced.

#include <cstddef>

namespace hpcrun {

// Reads a whole file, at most `bytes`, without terminating it. Returns its length, or 0 if there is no such
// file. Async-signal-safe.
size_t read_proc(const char* path, char* out, size_t bytes) noexcept;

}  // namespace hpcrun
