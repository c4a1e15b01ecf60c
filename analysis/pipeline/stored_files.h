#pragma once
// The files of a measurement directory: those in it, and those that the ranks of a node stored in a container
// (hpcrun/measurement/container.h). All readers of measurements and records use this list.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

namespace prof {

// Exists in a directory that many ranks share until all of them have ended (prof/ranks/launch_record.h).
constexpr char kLaunchFile[] = "launch.json";

struct StoredFiles {
  // Sorted by the paths that they would have as files. A member that also exists as a file, copied from its
  // node, counts once.
  std::vector<StoredFile> files;
  std::vector<std::filesystem::path> containers;
  std::vector<std::string> damage;  // one line each: damage of containers, and what ranks had not added
  std::error_code error;            // set if the directory cannot be read
};

// Does not descend into subdirectories.
StoredFiles stored_files(const std::filesystem::path& directory);

// True if prof wrote the file as a container.
bool is_container(const std::filesystem::path& file);

// Returns the containers, sorted by path.
std::vector<std::filesystem::path> containers_in(const std::filesystem::path& directory);

}  // namespace prof
