#pragma once
// A file that a run left: in a directory, or as a member of a container (container.h). Readers of
// measurements take both alike.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace prof {

struct StoredFile {
  StoredFile() = default;
  StoredFile(std::filesystem::path file) : path(std::move(file)) {}  // NOLINT: a file is one that is stored

  // Of a member as if its container were a folder: DIR/node7.ranks/node7-3-4711-0.prof.
  std::filesystem::path path;
  // Of a member; the container is empty otherwise.
  std::filesystem::path container;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t checksum = 0;  // CRC32C of its contents

  bool is_member() const { return !container.empty(); }
  // Where it would be as a file of its own.
  std::filesystem::path as_file() const {
    return is_member() ? container.parent_path() / path.filename() : path;
  }
};

// What is stored under a path of either kind; nothing where there is no such file or member.
std::optional<StoredFile> find_stored(const std::filesystem::path& path);

// All of it; nothing where it cannot be read, or where a member's checksum does not hold.
std::optional<std::string> contents_of(const StoredFile& file);

// Its first bytes, as far as there are so many, unchecked.
std::string beginning_of(const StoredFile& file, size_t bytes);

}  // namespace prof
