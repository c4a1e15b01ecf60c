#pragma once
// Where the runtime's own memory comes from: anonymous mappings, or what takes their place where memory is to
// be the same in several processes of a program. All calls are async-signal-safe.

#include <cstddef>

namespace hpcrun {

// What a forked child has of it: nothing, where it begins with a state of its own, a copy, or the same memory,
// which the processes share. From a memory source it has a copy in any case.
enum class InChild { Nothing, Copy, Same };

struct MemorySource {
  void* (*map)(size_t bytes) noexcept;  // zeroed whole pages, or nullptr
  void (*unmap)(void* at, size_t bytes) noexcept;
  // One page, which all processes of a program have and which is zeroed in forked children; or nullptr.
  void* (*map_emptied_page)() noexcept;
};

void* map_own_memory(size_t bytes, InChild in_child = InChild::Nothing) noexcept;
void unmap_own_memory(void* at, size_t bytes) noexcept;

// Takes the whole pages of it now, as far as the kernel can (Linux 5.14): what is read before it is written
// to is a page of zeros first, and all processors on which the program runs are interrupted when that goes.
// Not needed of memory from a source, which has no such pages.
void populate_own_memory(void* at, size_t bytes) noexcept;

// 4096 bytes that read as zeros in every copy of the process (MADV_WIPEONFORK, Linux 4.14). nullptr: there is
// no such memory.
void* map_emptied_page() noexcept;

// From now on memory comes from there, and all of it is given back there. nullptr: from the kernel, as in the
// beginning.
void set_memory_source(const MemorySource* source) noexcept;

}  // namespace hpcrun

// The runtime exports it, for libraries of ours that have a copy of this file: nullptr there, where it is not
// loaded.
extern "C" void hpcrun_set_memory_source(const hpcrun::MemorySource* source) noexcept __attribute__((weak));

// The runtime exports it: the program limits its address space, and what the runtime has only set aside goes.
// While no thread is a process.
extern "C" void hpcrun_set_aside_less() noexcept __attribute__((weak));

// A library that has a source exports it: it sets the source, if it did not do so yet. The runtime calls it
// before it maps anything; nullptr there, where no such library is loaded.
extern "C" void hpcrun_offer_memory_source() noexcept __attribute__((weak));
