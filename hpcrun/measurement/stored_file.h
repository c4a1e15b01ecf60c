#pragma once
// A file that a run left, in a directory or as a member of a container (container.h). Readers of measurements
// accept both.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace prof {

struct StoredFile {
  StoredFile() = default;
  StoredFile(std::filesystem::path file) : path(std::move(file)) {}  // NOLINT: a path converts implicitly

  // For a member, as if its container were a folder: DIR/node7.ranks/node7-3-4711-0.prof.
  std::filesystem::path path;
  // For members only; empty otherwise.
  std::filesystem::path container;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t checksum = 0;  // CRC32C of its contents

  bool is_member() const { return !container.empty(); }
  // Returns the path that it would have as a file of its own.
  std::filesystem::path as_file() const {
    return is_member() ? container.parent_path() / path.filename() : path;
  }
};

// Returns the file or member with this path, or std::nullopt.
std::optional<StoredFile> find_stored(const std::filesystem::path& path);

// Returns the contents, or std::nullopt if they cannot be read, or if a member's checksum does not match.
std::optional<std::string> contents_of(const StoredFile& file);

// Returns up to `bytes` bytes from the beginning, without checking the checksum.
std::string beginning_of(const StoredFile& file, size_t bytes);

}  // namespace prof
