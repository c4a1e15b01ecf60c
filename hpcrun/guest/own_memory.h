#pragma once
// Provides the runtime's own memory: anonymous mappings, or memory from a source that is common to several
// processes of a program. All calls are async-signal-safe.

#include <cstddef>

namespace hpcrun {

// The memory that a forked child has of it: none if it begins with a state of its own, a copy, or the same
// memory, which the processes share. From a memory source it has a copy in any case.
enum class InChild { Nothing, Copy, Same };

struct MemorySource {
  void* (*map)(size_t bytes) noexcept;  // zeroed whole pages, or nullptr
  void (*unmap)(void* at, size_t bytes) noexcept;
  // Maps one page that all processes of a program share and that is zeroed in forked children; or returns
  // nullptr.
  void* (*map_emptied_page)() noexcept;
};

void* map_own_memory(size_t bytes, InChild in_child = InChild::Nothing) noexcept;
void unmap_own_memory(void* at, size_t bytes) noexcept;

// Makes the kernel allocate the whole pages of the range now, if it can (Linux 5.14). Otherwise, a page that
// is read first is mapped to the page of zeros, and replacing it interrupts all processors on which the
// program runs. Not needed for memory from a source, which has no such pages.
void populate_own_memory(void* at, size_t bytes) noexcept;

// Maps 4096 bytes that read as zeros in every copy of the process (MADV_WIPEONFORK, Linux 4.14). Returns
// nullptr if that is not supported.
void* map_emptied_page() noexcept;

// Sets the source of memory from now on, and the place where all memory is returned. nullptr: the kernel, as
// at the start.
void set_memory_source(const MemorySource* source) noexcept;

}  // namespace hpcrun

// Sets the source in the runtime. Exported by the runtime, for our libraries that have a copy of this file;
// nullptr there if the runtime is not loaded.
extern "C" void hpcrun_set_memory_source(const hpcrun::MemorySource* source) noexcept __attribute__((weak));

// Releases address space that the runtime has only reserved, because the program limits its own. Exported by
// the runtime. Must be called while no thread is converted.
extern "C" void hpcrun_set_aside_less() noexcept __attribute__((weak));

// Sets the memory source of a library, unless that was done. Exported by a library that has one. The runtime
// calls it before it maps anything; nullptr there if no such library is loaded.
extern "C" void hpcrun_offer_memory_source() noexcept __attribute__((weak));
