#pragma once
// The files and the environment of a machine: this one, or one that a test has made in a folder.

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

  // The text of a file below the root without the newline at its end; absent where it cannot be read.
  std::optional<std::string> text(std::string_view path) const;
  // The number that a file holds.
  std::optional<int64_t> number(std::string_view path) const;
  bool exists(std::string_view path) const;
  // A program on PATH, or a file in the usual library folders; empty where there is none.
  std::filesystem::path program(std::string_view name) const;
  std::filesystem::path library(std::string_view name) const;
  std::string variable(const std::string& name) const;  // empty where it is not set
};

}  // namespace prof
