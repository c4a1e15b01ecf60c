#pragma once
// Resolves the path of a directory step by step, so that nobody else decides where it leads.

#include <filesystem>

namespace prof {

struct WalkedFolder {
  int descriptor = -1;  // O_PATH; the caller closes it. -1: failed
  bool is_new = false;  // the directory itself was made
  int error = 0;        // an errno; ELOOP with `link`: a link that another user could have planted
  std::filesystem::path link;
};

// `makes`: directories that are missing are made with this mode, given to them also where the umask forbids;
// 0: none.
WalkedFolder walk_to_folder(const std::filesystem::path& path, mode_t makes);

// The user whose rights this thread has for files.
uid_t user_for_files() noexcept;

}  // namespace prof
