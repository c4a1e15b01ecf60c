#pragma once
// Allocates memory for the runtime inside the measured process. It uses anonymous mappings of its own, so it
// never touches the program's allocator or its locks. Memory is only returned as a whole.
//
// An arena has one user at a time: a thread owns its arena and uses it inside and outside handlers, with its
// own sampling blocked outside. All calls are async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

class Arena {
 public:
  // Returns zeroed memory aligned to 16 bytes, or nullptr if the kernel refuses. Requests of more than a
  // quarter of a chunk get a mapping of their own.
  void* allocate(size_t bytes) noexcept;

  template <typename T>
  T* allocate_array(size_t count) noexcept {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }

  // Unmaps all memory of the arena.
  void release_all() noexcept;

  // Return the bytes mapped at present, by this arena or by all arenas of the process.
  [[nodiscard]] size_t bytes_mapped() const noexcept { return bytes_mapped_; }
  static size_t process_bytes_mapped() noexcept;

  // Resets the process's total in a forked child, which inherits no arena.
  static void reset_after_fork() noexcept;

 private:
  struct Chunk;
  Chunk* map_chunk(size_t bytes) noexcept;

  static constexpr size_t kChunkBytes = 64 * 1024;

  Chunk* chunks_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
  size_t bytes_mapped_ = 0;
};

}  // namespace hpcrun
