#pragma once
// A file in memory, read-only, for as long as this lives. Pages are read as they are touched.

#include <cstdint>
#include <filesystem>

namespace prof::viewer {

class Mapping {
 public:
  Mapping() = default;
  // Of a whole file, of a descriptor that the caller keeps. Empty where the system refuses.
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
  // Whole pages between these offsets are no longer this process's memory, until they are touched again.
  void forget(uint64_t begin, uint64_t end) const;
  void forget() const { forget(0, size_); }

 private:
  void map(int descriptor);
  void swap(Mapping& other) noexcept;

  char* data_ = nullptr;
  uint64_t size_ = 0;
};

// Of pages of all files that this process has in memory now, as far as the system tells; else 0.
uint64_t resident_file_bytes();

}  // namespace prof::viewer
