#pragma once
// What a team that is killed leaves in its folder, taken while the team still lives.

#include <filesystem>
#include <string>

#include "analysis/team/shared_folder.h"

namespace prof::test {

// Without the signs of life: the team rewrites them at any time, and they would be those of a process that
// has not ended.
inline void copy_as_left(const std::filesystem::path& folder, const std::filesystem::path& kept) {
  std::filesystem::create_directory(kept);
  for (const std::string& name : SharedFolder(folder).names())
    if (name != "welcome" && !name.starts_with("alive.") && !name.starts_with("."))  // a dot: being written
      std::filesystem::copy_file(folder / name, kept / name);
}

}  // namespace prof::test
