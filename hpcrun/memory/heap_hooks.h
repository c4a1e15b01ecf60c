#pragma once
// What libhpcrun-memory.so, which has the program's calls of its allocator, and the runtime know of each
// other. The library exports one HeapHooks; the runtime finds it by its name and fills it in.

#include <atomic>
#include <cstddef>

namespace hpcrun {

constexpr char kHeapHooksName[] = "hpcrun_heap_hooks";

struct HeapHooks {
  // An allocation was made, and nobody else knows of it yet. `frame`: the canonical frame address of the
  // function that the program called, below which its return address lies. nullptr: nobody wants to know.
  // Keeps errno. Neither is called in handlers of ours.
  std::atomic<void (*)(void* at, size_t bytes, const void* frame) noexcept> allocated;
  // What is there is about to be released.
  std::atomic<void (*)(void* at) noexcept> released;
  // The same for memory that the program mapped itself, by mmap() and its kin.
  std::atomic<void (*)(void* at, size_t bytes, const void* frame) noexcept> mapped;
  std::atomic<void (*)(void* at) noexcept> unmapped;
};

}  // namespace hpcrun
