#pragma once
// The files of a measurement directory: those in it, and those that the ranks of a node left in a container
// (hpcrun/measurement/container.h). All who look for measurements and records look here.

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "hpcrun/measurement/stored_file.h"

namespace prof {

// In a directory that many ranks share, until all of them have ended (prof/ranks/launch_record.h).
constexpr char kLaunchFile[] = "launch.json";

struct StoredFiles {
  // By where they would be as files. A member that is there as a file as well, which was copied from the node
  // that it is of, counts once.
  std::vector<StoredFile> files;
  std::vector<std::filesystem::path> containers;
  std::vector<std::string> damage;  // of containers, and what ranks had not added to them, a line each
  std::error_code error;            // the directory cannot be read
};

// Of the directory itself, not of those in it.
StoredFiles stored_files(const std::filesystem::path& directory);

// True for what prof wrote as a container.
bool is_container(const std::filesystem::path& file);

// Those that are containers, by path.
std::vector<std::filesystem::path> containers_in(const std::filesystem::path& directory);

}  // namespace prof
