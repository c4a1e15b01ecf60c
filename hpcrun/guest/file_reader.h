#pragma once
// Reads a file by raw system calls. It uses pread and not mmap: if the file shrinks meanwhile, the result is
// a short read and not a SIGBUS. A source of hpcrun/elf. Async-signal-safe.

#include <fcntl.h>

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

class FileReader {
 public:
  static constexpr bool kIsDirect = false;

  explicit FileReader(const char* path) noexcept
      : descriptor_(raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path),
                                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~FileReader() {
    if (is_open()) raw_syscall(SYS_close, descriptor_);
  }
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

  // Returns false if the file ends before that, or cannot be read.
  [[nodiscard]] bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    auto* at = static_cast<char*>(to);
    while (bytes != 0) {
      const long got = read_some(offset, at, bytes);
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  // Returns the number of bytes that one system call read; 0 at the end of the file, negative for errors.
  [[nodiscard]] long read_some(uint64_t offset, void* to, size_t bytes) const noexcept {
    return raw_syscall(SYS_pread64, descriptor_, reinterpret_cast<long>(to), static_cast<long>(bytes),
                       static_cast<long>(offset));
  }

 private:
  long descriptor_;
};

}  // namespace hpcrun
