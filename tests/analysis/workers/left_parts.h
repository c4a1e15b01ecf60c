#pragma once
// Copies what the processes of an analysis would leave in their folder if they were killed now.

#include <filesystem>
#include <string>

#include "analysis/workers/shared_folder.h"

namespace prof::test {

// Omits the signs of life: a process that still runs rewrites them at any time.
inline void copy_as_left(const std::filesystem::path& folder, const std::filesystem::path& kept) {
  std::filesystem::create_directory(kept);
  for (const std::string& name : SharedFolder(folder).names())
    if (name != "welcome" && !name.starts_with("alive.") &&
        !name.starts_with("."))  // leading dot: being written
      std::filesystem::copy_file(folder / name, kept / name);
}

}  // namespace prof::test
