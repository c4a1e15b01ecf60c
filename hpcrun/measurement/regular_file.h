#pragma once
// Opens files that another user may have put there: in a measurement directory, a database, a project or
// /tmp. prof opens such files in no other way. Refuses, without waiting, a FIFO, a device or a directory.
// Also refuses a large file that is nearly all holes, which takes no disk space to create and would take
// forever to read. May be called from any thread, but not from signal handlers.

#include <fcntl.h>
#include <sys/stat.h>

#include <cassert>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace prof {

class RegularFile {
 public:
  // Opens for reading, with further flags of open(2) such as O_NOFOLLOW, or O_RDWR for reading and writing.
  explicit RegularFile(const std::filesystem::path& path, int flags = O_RDONLY);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  // Returns an errno if the file is not open: EINVAL if it is not a regular file, EFBIG for holes.
  int error() const { return error_; }
  // Returns the reason why the file is not open, a clause for a message: "no such file or directory".
  std::string reason() const;

  // Hands the descriptor to the caller, which must close it. Returns -1 if the file is not open.
  int release();

  // The following must be called for open files only.
  int descriptor() const {
    assert(is_open());
    return descriptor_;
  }
  uint64_t size() const {
    assert(is_open());
    return static_cast<uint64_t>(status_.st_size);
  }
  const struct stat& status() const {
    assert(is_open());
    return status_;
  }
  // Reads at an offset until `bytes` are read or the file ends. Returns std::nullopt if reading fails.
  std::optional<std::string> read(uint64_t offset, uint64_t bytes) const;

 private:
  bool is_mostly_holes() const;
  void refuse(int error);

  int descriptor_ = -1;
  int error_ = 0;
  struct stat status_ {};
};

// Upper limit for JSON files, settings and other files that prof holds in memory, in bytes.
constexpr uint64_t kMaxRecordBytes = uint64_t{64} << 20;

// Returns the contents of a file, or std::nullopt if it cannot be opened or read, or has more than
// `max_bytes`.
std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                             uint64_t max_bytes = kMaxRecordBytes);

}  // namespace prof
