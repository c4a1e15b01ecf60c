#pragma once
// The folder in which processes of one analysis, which may be on several nodes, leave each other files. A
// file is there whole or not at all: it is written beside and renamed.

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

  // Asks the file server: what others made since is seen from here on.
  bool refresh() const;

  // With a checksum. Throws std::system_error.
  void write(const std::string& name, std::string_view text) const;
  // Nothing where it is not there, or is not what was written.
  std::optional<std::string> read(const std::string& name) const;
  bool has(const std::string& name) const;
  std::vector<std::string> names() const;
  void remove(const std::string& name) const;

  // The folder with all that is in it, and what others left that died as they removed it. It is moved away
  // first: whoever comes to it meanwhile finds none.
  void remove_all() const;

 private:
  std::filesystem::path path_;
};

}  // namespace prof
