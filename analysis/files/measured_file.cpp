#include "analysis/files/measured_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "analysis/files/folder.h"
#include "analysis/files/folder_walk.h"
#include "analysis/files/user_rights.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// Checks the file first, because opening a device or a pipe may have effects.
int open_regular(const fs::path& path, struct stat& status) {
  const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (place.number() < 0 || ::fstat(place.number(), &status) != 0 || !S_ISREG(status.st_mode)) return -1;
  return ::open(fmt::format("/proc/self/fd/{}", place.number()).c_str(),
                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Requires root, which can assume the rights of other users.
bool may_read_as(uid_t user, const fs::path& path, const struct stat& file) try {
  const UserRights rights(user);
  struct stat status {};
  const Descriptor opened(open_regular(path, status));
  return opened.number() >= 0 && is_same(status, file);
} catch (const WriteError&) {
  return false;
}

bool allows(const struct stat& status, uid_t user, mode_t owners, mode_t others) {
  return (status.st_mode & (status.st_uid == user ? owners : others)) != 0;
}

bool may_read_by_bits(uid_t user, const fs::path& path, const struct stat& file) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  struct stat status {};
  if (error || ::lstat(real.c_str(), &status) != 0 || !is_same(status, file) ||
      !allows(file, user, S_IRUSR, S_IROTH))
    return false;
  for (fs::path above = real.parent_path();; above = above.parent_path()) {
    if (::lstat(above.c_str(), &status) != 0 || !allows(status, user, S_IXUSR, S_IXOTH)) return false;
    if (above == above.root_path()) return true;
  }
}

}  // namespace

std::optional<MeasuredFile> read_measured_file(const fs::path& path, const std::vector<uid_t>& users,
                                               uint64_t most_bytes) {
  struct stat status {};
  const Descriptor file(open_regular(path, status));
  if (file.number() < 0 || static_cast<uint64_t>(status.st_size) > most_bytes) return std::nullopt;
  const uid_t self = user_for_files();
  const bool may_all_read = std::ranges::all_of(users, [&](uid_t user) {
    if (user == self || user == 0) return true;
    return self == 0 ? may_read_as(user, path, status) : may_read_by_bits(user, path, status);
  });
  if (!may_all_read) return std::nullopt;
  MeasuredFile read{{}, status.st_mode & 07777};
  read.text.resize(static_cast<size_t>(status.st_size));
  size_t bytes = 0;
  while (bytes < read.text.size()) {
    const ssize_t got = ::read(file.number(), read.text.data() + bytes, read.text.size() - bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    bytes += static_cast<size_t>(got);
  }
  read.text.resize(bytes);
  return read;
}

}  // namespace prof
