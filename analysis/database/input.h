#pragma once
// Input of the database reader. Files are untrusted: every access is checked against the actual size, and
// fails as a DatabaseError with the file's name.

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/database/database.h"
#include "analysis/database/format.h"

namespace prof {

// Bytes of a file, starting at the absolute offset `begin`.
class Bytes {
 public:
  Bytes(std::filesystem::path file, uint64_t begin, std::vector<char> data)
      : file_(std::move(file)), begin_(begin), data_(std::move(data)) {}

  bool contains(uint64_t offset, uint64_t size) const {
    return offset >= begin_ && offset - begin_ <= data_.size() && size <= data_.size() - (offset - begin_);
  }
  template <typename T>
  T at(uint64_t offset) const {
    if (!contains(offset, sizeof(T))) corrupt("a pointer leads outside the file");
    T value;
    std::memcpy(&value, data_.data() + (offset - begin_), sizeof value);
    return value;
  }
  // Checks an array of `count` structures, `stride` bytes apart, whose first `used` bytes are read.
  void check_array(uint64_t offset, uint64_t count, uint64_t stride, uint64_t used,
                   std::string_view what) const;
  // Returns the string at an offset, with malformed UTF-8 replaced by U+FFFD.
  std::string string(uint64_t offset) const;
  uint64_t begin() const { return begin_; }
  uint64_t size() const { return data_.size(); }

  [[noreturn]] void corrupt(std::string_view what) const;

 private:
  std::filesystem::path file_;
  uint64_t begin_;
  std::vector<char> data_;
};

class InputFile {
 public:
  // Opens the file, and checks its magic, version and footer.
  InputFile(const std::filesystem::path& directory, const format::FileKind& kind);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return size_; }
  Bytes read(uint64_t offset, uint64_t size) const;
  Bytes read_all() const { return read(0, size_); }
  Bytes read_section(size_t index) const;
  // Fails unless [offset, offset + size) lies in the file.
  void check_range(uint64_t offset, uint64_t size) const;
  // Reads into a buffer that the caller keeps between calls.
  void read_into(std::vector<char>& buffer, uint64_t offset, uint64_t size) const;

  [[noreturn]] void corrupt(std::string_view what) const;

 private:
  void read_bytes(char* to, uint64_t offset, size_t size) const;
  void check_identity(const format::FileKind& kind) const;

  std::filesystem::path path_;
  uint64_t size_ = 0;  // declared before the descriptor, whose initialization sets it
  int descriptor_;
};

// Returns a text file of at most `limit` bytes.
std::string read_text_file(const std::filesystem::path& path, uint64_t limit);

[[noreturn]] void throw_corrupt(const std::filesystem::path& path, std::string_view what);

}  // namespace prof
