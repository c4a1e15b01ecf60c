#pragma once
// The space of a measurement file: its descriptor, and bytes that are reserved on disk before anything
// touches them, so that a full disk is an error code and never a SIGBUS. take() is async-signal-safe and
// called from any thread without locks.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

class FileSpace {
 public:
  // Creates the file (it must not exist) with a descriptor at the top of the limit. 0, or an errno.
  int create(const char* path) noexcept;

  // Takes `bytes` (whole pages) at the end of what is taken; they read as zeros and can be written without
  // a SIGBUS. The offset, or -1: failed for good (failure()), closed, or called in a forked child.
  int64_t take(size_t bytes) noexcept;

  // Maps what was taken; nullptr when the kernel refuses (failure() is set). unmap() takes no more than one
  // such piece.
  void* map(int64_t offset, size_t bytes) noexcept;
  void unmap(void* at, size_t bytes) noexcept;

  // From now on what is taken is mapped already, in threads that run as processes of their own as well
  // (repair/isolate), up to kAheadBytes of the file: pages that are not taken lie behind its end. False: the
  // address space has no room. Not before create().
  bool map_ahead() noexcept;
  // The address space is to be small: what is far from being taken is mapped ahead no more. Nobody is a
  // process of its own then. Other threads may take and map.
  void map_less_ahead() noexcept;
  bool is_ahead(const void* at) const noexcept;

  // Nothing can be taken afterwards; gives back what was reserved and not taken. The file's final size. A
  // file that somebody truncated meanwhile is a failure() with ESTALE.
  uint64_t close_and_trim() noexcept;

  // After close_and_trim(): gives the descriptor up, in a process that goes on.
  void release_descriptor() noexcept;

  // In a forked child: closes its copy of the descriptor and forgets everything.
  void abandon() noexcept;

  // True in the process that created the file, false in a child of fork that did not abandon() it yet.
  bool owned() const noexcept;

  // Records an errno after which nothing can be taken any more; the first one stays. Returns false.
  bool fail(int error) noexcept;
  ino_t inode() const noexcept { return inode_; }

  int failure() const noexcept { return failure_.load(std::memory_order_relaxed); }
  // The descriptor was duplicated: the file goes on with the duplicate where it used the first.
  void replace_descriptor(int from, int to) noexcept { descriptor_.compare_exchange_strong(from, to); }

  const char* path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kMaxPath = 4096;
  static constexpr size_t kAheadBytes = size_t{16} << 30;

  bool reserve(uint64_t begin, uint64_t end) noexcept;
  bool write_zeros(uint64_t begin, uint64_t end) noexcept;
  bool refers_to_file(int descriptor) const noexcept;
  int usable_descriptor() noexcept;

  std::atomic<int> descriptor_{-1};
  std::atomic<int> failure_{0};
  std::atomic<uint64_t> taken_{0};
  std::atomic<uint64_t> reserved_{0};
  std::atomic<bool> cannot_reserve_{false};
  int owner_ = 0;
  char* ahead_ = nullptr;  // where the file's begin is mapped,
  std::atomic<size_t> ahead_bytes_{0};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  char path_[kMaxPath] = {};
};

}  // namespace hpcrun
