#include "analysis/files/named_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace prof {

namespace {

constexpr mode_t kBeforeUmask = 0666;

bool is_replaced(const std::filesystem::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode) || S_ISLNK(status.st_mode) ||
         S_ISDIR(status.st_mode);
}

}  // namespace

bool is_device_name(const std::filesystem::path& path) {
  const std::string name = path.lexically_normal().string();
  constexpr std::string_view kDevices[] = {"/dev/stdout", "/dev/stderr", "/dev/null", "/dev/full",
                                           "/dev/tty"};
  return std::ranges::count(kDevices, name) > 0 || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

NamedOutput::NamedOutput(const std::filesystem::path& path) {
  const bool is_device = is_device_name(path);
  if (!is_device && is_replaced(path)) {
    file_.emplace(NewFile::beside(path, FolderOwner::Any, kBeforeUmask));
    return;
  }
  // Names of descriptors are themselves links.
  as_it_is_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (is_device ? 0 : O_NOFOLLOW));
  if (as_it_is_ < 0) {
    const int error = errno;
    throw WriteError(fmt::format("{}: {}", path.string(), std::strerror(error)), error);
  }
}

NamedOutput::~NamedOutput() {
  if (as_it_is_ >= 0) ::close(as_it_is_);
}

void NamedOutput::keep() {
  if (file_) file_->keep();
}

}  // namespace prof
