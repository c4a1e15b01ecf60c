#pragma once
// Output of the database writer: a growing buffer of little-endian values, and a file written through a
// buffer. Failures of the system are thrown as DatabaseError::Unwritable.

#include <sys/types.h>

#include <cstring>
#include <filesystem>
#include <string_view>
#include <type_traits>
#include <vector>

#include "analysis/database/format.h"

namespace prof {

class OutputBuffer {
 public:
  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    std::memcpy(grow(sizeof value), &value, sizeof value);
  }
  void put_string(std::string_view text);  // with its NUL; cut at the first NUL inside
  void put_zeros(size_t bytes) {
    if (bytes > 0) std::memset(grow(bytes), 0, bytes);
  }
  void append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }
  void align(size_t alignment) { put_zeros((alignment - size_ % alignment) % alignment); }
  template <typename T>
  void patch(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  char* grow(size_t bytes) {
    if (bytes_.size() - size_ < bytes) bytes_.resize(2 * bytes_.size() + bytes);
    char* const end = bytes_.data() + size_;
    size_ += bytes;
    return end;
  }
  void clear() { size_ = 0; }
  void drop(size_t bytes) { size_ -= bytes; }  // from the end
  size_t size() const { return size_; }
  std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::vector<char> bytes_;
  size_t size_ = 0;
};

// One file of the database. The header is written last, so a file that was not finished has none.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& directory, const format::FileKind& kind);
  // Goes on from an offset with a file that was closed, or that other processes write to as well.
  OutputFile(const std::filesystem::path& directory, const format::FileKind& kind, uint64_t offset);
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();

  uint64_t offset() const { return flushed_ + buffer_.size(); }
  void align(size_t alignment);
  // The buffer to append to. After every few kilobytes call flush_if_full().
  OutputBuffer& buffer() { return buffer_; }
  void flush_if_full();
  void write(std::string_view bytes);
  // Leaves room, to which write_at() writes: where it begins.
  uint64_t leave(uint64_t bytes);
  // Callable by several threads at once, for different places.
  void write_at(uint64_t offset, std::string_view bytes);
  // The section that begins at `begin` and ends here.
  void end_section(size_t index, uint64_t begin);
  // Writes footer and header and closes.
  void finish();
  // What there is so far.
  void close();

 private:
  void flush();
  void put(std::string_view bytes);

  std::filesystem::path path_;
  format::FileKind kind_{};
  int descriptor_ = -1;
  uint64_t flushed_ = 0;
  OutputBuffer buffer_;
  std::vector<std::pair<uint64_t, uint64_t>> sections_;  // size, pointer
};

// A text file beside the format's own; it replaces one that is there. `at_most`: the most that its
// permissions may be.
void write_text_file(const std::filesystem::path& path, std::string_view text, mode_t at_most = 07777);

}  // namespace prof
