#pragma once
// Manages the space of a measurement file and its descriptor. Bytes are reserved on disk before anything
// touches them, so a full disk is an error code and never a SIGBUS. take() is async-signal-safe, and can be
// called from any thread without locks.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

class FileSpace {
 public:
  // Creates the file, which must not exist, with a descriptor at the top of the limit. Returns 0, or an
  // errno.
  int create(const char* path) noexcept;

  // Takes `bytes` (whole pages) at the end of the space taken so far. They read as zeros and can be written
  // without a SIGBUS. Returns the offset, or -1 if it failed permanently (failure()), is closed, or was
  // called in a forked child.
  int64_t take(size_t bytes) noexcept;

  // Maps space that was taken. Returns nullptr if the kernel refuses (failure() is then set). unmap() must be
  // given at most one such piece.
  void* map(int64_t offset, size_t bytes) noexcept;
  void unmap(void* at, size_t bytes) noexcept;

  // Maps the first kAheadBytes of the file, so that space taken from now on is mapped already, also in
  // converted threads (repair/isolate). Pages that are not taken yet are past the end of the file. Returns
  // false if the address space has no room. Must be called after create().
  [[nodiscard]] bool map_ahead() noexcept;
  // Reduces what map_ahead() mapped, for programs whose address space must stay small. No thread may be
  // converted at that time. Other threads may take and map space meanwhile.
  void map_less_ahead() noexcept;
  [[nodiscard]] bool is_ahead(const void* at) const noexcept;

  // Closes the space and returns unused reservations. Returns the file's final size. Nothing can be taken
  // afterwards. Sets failure() to ESTALE if the file was truncated by someone else.
  uint64_t close_and_trim() noexcept;

  // Closes the descriptor, in a process that continues after close_and_trim().
  void release_descriptor() noexcept;

  // Closes a forked child's copy of the descriptor, and resets all state.
  void detach() noexcept;

  // True in the process that created the file. False in a child of fork that has not called detach() yet.
  [[nodiscard]] bool owned() const noexcept;

  // Records an errno and stops taking; only the first errno is kept. Returns false.
  bool fail(int error) noexcept;
  ino_t inode() const noexcept { return inode_; }

  [[nodiscard]] int failure() const noexcept { return failure_.load(std::memory_order_relaxed); }
  // Uses the duplicate `to` if the file's descriptor is `from`.
  void replace_descriptor(int from, int to) noexcept { descriptor_.compare_exchange_strong(from, to); }

  [[nodiscard]] const char* path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kMaxPath = 4096;
  static constexpr size_t kAheadBytes = size_t{16} << 30;

  [[nodiscard]] bool reserve(uint64_t begin, uint64_t end) noexcept;
  bool write_zeros(uint64_t begin, uint64_t end) noexcept;
  [[nodiscard]] bool refers_to_file(int descriptor) const noexcept;
  int usable_descriptor() noexcept;

  std::atomic<int> descriptor_{-1};
  std::atomic<int> failure_{0};
  std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> reserved_{0};
  std::atomic<bool> cannot_reserve_{false};
  int owner_ = 0;
  char* ahead_ = nullptr;  // start of the mapping made by map_ahead()
  std::atomic<size_t> ahead_bytes_{0};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[kMaxPath] = {};
};

}  // namespace hpcrun
