#pragma once
// Resolves the path of a directory step by step, so that no other user can redirect it.

#include <filesystem>

namespace prof {

struct WalkedFolder {
  int descriptor = -1;  // O_PATH; the caller closes it. -1 if it failed
  bool is_new = false;  // the directory itself was created
  int error = 0;        // an errno; ELOOP with `link`: a link that another user could have planted
  std::filesystem::path link;
};

// `makes`: the mode with which to create missing directories, regardless of the umask; 0 creates none.
WalkedFolder walk_to_folder(const std::filesystem::path& path, mode_t makes);

// Returns the user whose file access rights this thread has.
uid_t user_for_files() noexcept;

}  // namespace prof
