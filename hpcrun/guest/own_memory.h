#pragma once
// Where the runtime's own memory comes from: anonymous mappings that a forked child does not get, or what
// takes their place where memory is to be the same in several processes of a program. All calls are
// async-signal-safe.

#include <cstddef>

namespace hpcrun {

struct MemorySource {
  void* (*map)(size_t bytes) noexcept;  // zeroed whole pages, or nullptr
  void (*unmap)(void* at, size_t bytes) noexcept;
};

void* map_own_memory(size_t bytes) noexcept;
void unmap_own_memory(void* at, size_t bytes) noexcept;

// From now on memory comes from there, and all of it is given back there. nullptr: from the kernel, as in the
// beginning.
void set_memory_source(const MemorySource* source) noexcept;

}  // namespace hpcrun

// The runtime exports it under this name, for libraries of ours that have a copy of this file.
extern "C" void hpcrun_set_memory_source(const hpcrun::MemorySource* source) noexcept;
constexpr char kSetMemorySourceName[] = "hpcrun_set_memory_source";
