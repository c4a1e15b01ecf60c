#pragma once
// The folder through which processes of one analysis exchange files; they may run on several nodes. A file
// exists completely or not at all: it is written under another name and renamed.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

class SharedFolder {
 public:
  explicit SharedFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }

  // Contacts the file server, so that changes by others until now become visible.
  bool refresh() const;

  // Writes a file with a checksum. Throws std::system_error.
  void write(const std::string& name, std::string_view text) const;
  // Returns nullopt if the file does not exist or is damaged.
  std::optional<std::string> read(const std::string& name) const;
  bool has(const std::string& name) const;
  std::vector<std::string> names() const;
  void remove(const std::string& name) const;

  // Removes the folder with its contents, and what others left that died while they removed it. Moves it away
  // first, so that no process finds it incomplete.
  void remove_all() const;

 private:
  std::filesystem::path path_;
};

}  // namespace prof
