#pragma once
// Lists the mappings of this process from /proc/self/maps. Async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct OwnMapping {
  uint64_t low = 0;
  uint64_t high = 0;
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  bool is_shared = false;
  uint64_t inode = 0;     // 0: anonymous
  const char* name = "";  // path, "[stack]" or empty; valid during the call
};

// Calls use(argument, mapping) for each mapping, in the order of addresses. Does nothing without /proc. If
// the program has used up its descriptors, `use` runs in another process with the same memory (full_table.h).
// One caller at a time.
void for_each_mapping(void (*use)(void* argument, const OwnMapping& mapping), void* argument) noexcept;

// Buffer for lines of /proc/self/maps: the longest path, and the numbers before it.
constexpr size_t kMappingLineBytes = 4096 + 256;
using MappingLines = char[4 * kMappingLineBytes];

// The same with the caller's memory, for a caller that may interrupt another one.
void for_each_mapping(void (*use)(void* argument, const OwnMapping& mapping), void* argument,
                      MappingLines& lines) noexcept;

}  // namespace hpcrun
