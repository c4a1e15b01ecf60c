#include "analysis/files/folder_walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <utility>
#include <vector>

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the kernel's limit

class Step {
 public:
  explicit Step(int descriptor) : descriptor_(descriptor) {}
  ~Step() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Step(Step&& other) noexcept : descriptor_(other.release()) {}
  Step& operator=(Step&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int number() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// True for a link that belongs to the user or root, or lies in a directory of theirs that no other user can
// write to. Users other than root may also follow links that belong to the owner of the directory, as the
// kernel allows in sticky directories (protected_symlinks).
bool is_trusted_link(const struct stat& link, const struct stat& directory) {
  const uid_t user = user_for_files();
  const auto is_trusted = [&](uid_t owner) { return owner == user || owner == 0; };
  if (is_trusted(link.st_uid)) return true;
  if (is_trusted(directory.st_uid) && (directory.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  return user != 0 && link.st_uid == directory.st_uid;
}

// Pushes the steps of a path, the next one last.
void push(const fs::path& path, std::vector<std::string>& steps) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (!part->empty() && *part != "/" && *part != ".") steps.push_back(part->string());
}

Step first_step(const fs::path& path) {
  return Step(::open(path.is_absolute() ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool make(int in, const std::string& name, mode_t mode, bool& is_new) {
  if (::mkdirat(in, name.c_str(), mode) != 0) return errno == EEXIST;
  is_new = true;
  return true;
}

}  // namespace

uid_t user_for_files() noexcept {
  return static_cast<uid_t>(::syscall(SYS_setfsuid, -1));  // an invalid number changes nothing
}

WalkedFolder walk_to_folder(const fs::path& path, mode_t makes) {
  WalkedFolder walked;
  std::vector<std::string> steps;
  push(path, steps);
  Step at = first_step(path);
  int links = 0;
  while (at.number() >= 0 && !steps.empty()) {
    const std::string name = std::move(steps.back());
    steps.pop_back();
    walked.is_new = false;
    const auto open = [&] { return ::openat(at.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC); };
    Step next(open());
    if (next.number() < 0 && errno == ENOENT && makes != 0 && make(at.number(), name, makes, walked.is_new))
      next = Step(open());
    struct stat status {
    }, directory{};
    if (next.number() < 0 || ::fstat(next.number(), &status) != 0 || ::fstat(at.number(), &directory) != 0) {
      walked.error = errno;
      return walked;
    }
    if (S_ISLNK(status.st_mode)) {
      std::array<char, PATH_MAX> target{};
      const ssize_t length = ::readlinkat(next.number(), "", target.data(), target.size());
      const bool is_trusted = is_trusted_link(status, directory);
      if (length < 0 || ++links > kMaxLinks || !is_trusted) {
        walked.error = length < 0 ? errno : ELOOP;
        if (!is_trusted) walked.link = name;
        return walked;
      }
      const fs::path leads_to(std::string(target.data(), static_cast<size_t>(length)));
      push(leads_to, steps);
      if (leads_to.is_absolute()) at = first_step(leads_to);
    } else if (!S_ISDIR(status.st_mode)) {
      walked.error = ENOTDIR;
      return walked;
    } else {
      at = std::move(next);
    }
  }
  if (at.number() < 0) walked.error = errno;
  walked.descriptor = at.release();
  return walked;
}

}  // namespace prof
