#pragma once
// A read-only mapping of a file, as long as this object lives. Pages are read when they are touched.

#include <cstdint>
#include <filesystem>

namespace prof::viewer {

class Mapping {
 public:
  Mapping() = default;
  // Maps a whole file by a descriptor that the caller keeps. Empty if the system refuses.
  explicit Mapping(int descriptor);
  explicit Mapping(const std::filesystem::path& file);
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping();

  const char* data() const { return data_; }
  uint64_t size() const { return size_; }
  explicit operator bool() const { return data_ != nullptr; }
  // Drops the whole pages between these offsets from memory until they are touched again.
  void release_pages(uint64_t begin, uint64_t end) const;
  void release_pages() const { release_pages(0, size_); }

 private:
  void map(int descriptor);
  void swap(Mapping& other) noexcept;

  char* data_ = nullptr;
  uint64_t size_ = 0;
};

// Returns the resident file-backed memory of this process in bytes, or 0 if the system does not report it.
uint64_t resident_file_bytes();

}  // namespace prof::viewer
