#pragma once
// The files and the environment of a machine: this one, or a synthetic one that a test has made in a folder.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace prof {

struct MachineFiles {
  std::filesystem::path root = "/";
  std::map<std::string, std::string> environment;

  // Returns the text of a file below the root without the newline at its end; absent if it cannot be read.
  std::optional<std::string> text(std::string_view path) const;
  // Returns the number that a file holds.
  std::optional<int64_t> number(std::string_view path) const;
  bool exists(std::string_view path) const;
  // Return a program on PATH, or a file in the usual library folders; empty if there is none.
  std::filesystem::path program(std::string_view name) const;
  std::filesystem::path library(std::string_view name) const;
  std::string variable(const std::string& name) const;  // empty if it is not set
};

}  // namespace prof
