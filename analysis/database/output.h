#pragma once
// Output of the database writer: a growing buffer of little-endian values, and a file written through a
// buffer. System errors are thrown as DatabaseError::Unwritable.

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

// A file of the database. The header is written last, so an unfinished file has none.
class OutputFile {
 public:
  OutputFile(const std::filesystem::path& directory, const format::FileKind& kind);
  // Continues at an offset in a file that was closed, or that other processes also write.
  OutputFile(const std::filesystem::path& directory, const format::FileKind& kind, uint64_t offset);
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();

  uint64_t offset() const { return flushed_ + buffer_.size(); }
  void align(size_t alignment);
  // Returns the buffer to append to. Call flush_if_full() after every few kilobytes.
  OutputBuffer& buffer() { return buffer_; }
  void flush_if_full();
  void write(std::string_view bytes);
  // Reserves room for write_at(). Returns its offset.
  uint64_t leave(uint64_t bytes);
  // Safe to call from several threads at once, for different offsets.
  void write_at(uint64_t offset, std::string_view bytes);
  // Ends the section that starts at `begin`.
  void end_section(size_t index, uint64_t begin);
  // Writes the footer and the header, and closes the file.
  void finish();
  // Writes what is buffered, and closes the file without footer and header.
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

// Writes a text file that is not part of the format, replacing an existing one. `at_most`: the largest
// permissions that it may get.
void write_text_file(const std::filesystem::path& path, std::string_view text, mode_t at_most = 07777);

}  // namespace prof
