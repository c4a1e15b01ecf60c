#pragma once
// The mappings of this process as /proc/self/maps lists them. Async-signal-safe; one caller at a time.

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

// Calls use(argument, mapping) for each, in the order of addresses. Nothing happens without /proc. Where the
// program has used up its descriptors, `use` runs in another process with the same memory (full_table.h).
void for_each_mapping(void (*use)(void* argument, const OwnMapping& mapping), void* argument) noexcept;

}  // namespace hpcrun
