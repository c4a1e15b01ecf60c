#pragma once
// Reads files that measurements name. The names are untrusted: a line table may name /etc/shadow, a pipe or a
// device.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace prof {

struct MeasuredFile {
  std::string text;
  mode_t mode = 0;  // the permissions of the original
};

// Returns the file if it is a regular one of at most `most_bytes` that this user and all `users` may read.
// Root has the kernel check with each user's rights. Other users check the permission bits of the file and
// the directories above it; files that only a group may read are excluded.
std::optional<MeasuredFile> read_measured_file(const std::filesystem::path& path,
                                               const std::vector<uid_t>& users, uint64_t most_bytes);

}  // namespace prof
