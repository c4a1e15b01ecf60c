#pragma once
// Shared by programs with an allocator of their own: blocks in one array, each with its size before it, that
// are never freed. The program includes this once and defines malloc() and free().

#include <cstddef>
#include <cstring>

extern "C" void* malloc(size_t bytes);

// Returns the block that begins at `at` in the array, or nullptr if that ends before the block does. The
// bytes before `at` take the size.
inline void* block_at(unsigned char* memory, size_t capacity, size_t at, size_t bytes) {
  if (at + bytes > capacity) return nullptr;
  std::memcpy(memory + at - sizeof bytes, &bytes, sizeof bytes);
  return memory + at;
}

extern "C" void* calloc(size_t count, size_t each) {
  return malloc(count * each);  // the array is zeroed, and no block is used twice
}

extern "C" void* realloc(void* at, size_t bytes) {
  void* const to = malloc(bytes);
  size_t before = 0;
  if (at) std::memcpy(&before, static_cast<unsigned char*>(at) - sizeof before, sizeof before);
  if (to && at) std::memcpy(to, at, before < bytes ? before : bytes);
  return to;
}
