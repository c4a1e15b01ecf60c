#include "analysis/files/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "analysis/files/folder_walk.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxNamesTried = 100;  // of 2^32 random ones
constexpr size_t kNameDigits = 8;

std::atomic<SharedWith> shared_by_process{SharedWith::Nobody};

// Returns an unpredictable name in the folder.
std::string temporary_name(const std::string& name) {
  std::random_device random;
  return fmt::format(".{}.{:0{}x}", name, random(), kNameDigits);
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

using Listing = std::unique_ptr<DIR, int (*)(DIR*)>;

// Returns an empty listing if it is not a directory.
Listing list(int in, const char* name) {
  const int descriptor = ::openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* const listing = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (!listing && descriptor >= 0) ::close(descriptor);
  return {listing, ::closedir};
}

template <typename Visit>
void for_each_name(DIR* listing, const Visit& visit) {
  while (const dirent* entry = ::readdir(listing))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) visit(entry->d_name);
}

bool remove_tree(int in, const char* name) noexcept {
  if (::unlinkat(in, name, 0) == 0 || errno == ENOENT) return true;
  if (const Listing listing = list(in, name))
    for_each_name(listing.get(), [&](const char* inner) { remove_tree(::dirfd(listing.get()), inner); });
  return ::unlinkat(in, name, AT_REMOVEDIR) == 0;
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  throw WriteError(fmt::format("{}: cannot write: {}; free disk space, or choose another directory with -o",
                               path.string(), std::strerror(error)),
                   error);
}

[[noreturn]] void refuse(const fs::path& path, const std::string& cause) {
  throw WriteError(fmt::format("{}: {}; choose another directory with -o", path.string(), cause), EPERM);
}

int walk(const fs::path& path, mode_t makes, bool& is_new) {
  WalkedFolder walked = walk_to_folder(path, makes);
  is_new = walked.is_new;
  if (!walked.link.empty())
    refuse(path, fmt::format("the link {} in this path belongs to another user, who could redirect what is "
                             "written there",
                             walked.link.string()));
  if (walked.descriptor < 0) fail_to_write(path, walked.error);
  return walked.descriptor;
}

std::pair<fs::path, std::string> split(const fs::path& file) {
  return {file.has_parent_path() ? file.parent_path() : fs::path("."), file.filename().string()};
}

}  // namespace

void set_shared_with(SharedWith with) {
  shared_by_process = with;
}

SharedWith shared_with() {
  return shared_by_process;
}

mode_t shared_file_mode() {
  return shared_with() == SharedWith::Nobody ? 0600 : shared_with() == SharedWith::Group ? 0640 : 0644;
}

mode_t shared_folder_mode() {
  return shared_with() == SharedWith::Nobody ? 0700 : shared_with() == SharedWith::Group ? 0750 : 0755;
}

std::string name_of_user(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry ? fmt::format("{} ({})", entry->pw_name, user) : fmt::format("user {}", user);
}

Folder::Folder(fs::path path, int descriptor, bool is_new)
    : path_(std::move(path)), descriptor_(descriptor), is_new_(is_new) {}

Folder::Folder(const fs::path& path, FolderOwner owner) : path_(path), descriptor_(-1), is_new_(false) {
  descriptor_ = walk(path, 0, is_new_);
  if (owner == FolderOwner::Any) return;
  try {
    require_own();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Folder Folder::make(const fs::path& path) {
  bool is_new = false;
  const int descriptor = walk(path, shared_folder_mode(), is_new);
  Folder made(path, descriptor, is_new);
  made.require_own();
  if (is_new && shared_with() != SharedWith::Nobody) made.share_with_others();
  return made;
}

Folder Folder::above(const fs::path& path) {
  const fs::path directory = split(path).first;
  bool is_new = false;
  const int descriptor = walk(directory, shared_folder_mode(), is_new);
  return {directory, descriptor, is_new};
}

Folder::Folder(Folder&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_new_(other.is_new_) {}

Folder::~Folder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// Network and other file systems may show all files as another user's, including new ones.
void Folder::require_own() const {
  struct stat folder {};
  if (::fstat(descriptor_, &folder) != 0) fail_to_write(path_, errno);
  if (folder.st_uid == user_for_files()) return;
  const std::string name = temporary_name("prof");
  const int probe =
      ::openat(descriptor_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (probe < 0 && (errno == EACCES || errno == EROFS)) fail_to_write(path_, errno);
  struct stat made {};
  const bool is_own = probe >= 0 && ::fstat(probe, &made) == 0 && made.st_uid == folder.st_uid;
  if (probe >= 0) {
    ::close(probe);
    ::unlinkat(descriptor_, name.c_str(), 0);
  }
  if (!is_own)
    refuse(path_, fmt::format("belongs to {}, who could redirect what is written there",
                              name_of_user(folder.st_uid)));
}

uid_t Folder::owner() const {
  struct stat folder {};
  if (::fstat(descriptor_, &folder) != 0) fail_to_write(path_, errno);
  return folder.st_uid;
}

void Folder::fail(const std::string& name, int error) const {
  fail_to_write(path_ / name, error);
}

int Folder::create(const std::string& name, mode_t at_most) const {
  const mode_t mode = shared_file_mode() & at_most;
  const int descriptor =
      ::openat(descriptor_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0700);
  if (descriptor >= 0 && (mode & 077) != 0) ::fchmod(descriptor, mode);  // independent of the umask
  return descriptor;
}

int Folder::open(const std::string& name, int flags) const {
  constexpr int kSafe = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const int descriptor = ::openat(descriptor_, name.c_str(), (flags & ~O_TRUNC) | kSafe, 0600);
  if (descriptor < 0) fail(name, errno);
  struct stat file {
  }, folder{};
  if (::fstat(descriptor, &file) != 0 || ::fstat(descriptor_, &folder) != 0 || !S_ISREG(file.st_mode) ||
      file.st_uid != folder.st_uid || file.st_nlink > 1) {
    ::close(descriptor);
    refuse(path_ / name, "is not a regular file of this user");
  }
  if ((flags & O_CREAT) != 0 && shared_with() != SharedWith::Nobody) ::fchmod(descriptor, shared_file_mode());
  if ((flags & O_TRUNC) != 0 && ::ftruncate(descriptor, 0) != 0) {
    const int error = errno;
    ::close(descriptor);
    fail(name, error);
  }
  return descriptor;
}

void Folder::write(const std::string& name, std::string_view text, mode_t at_most) const {
  const mode_t mode = shared_file_mode() & at_most;
  NewFile file(Folder(path_, ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0), false), name,
               mode == shared_file_mode() ? 0 : mode);
  file.write(text);
  file.keep();
}

bool Folder::write_new(const std::string& name, std::string_view text) const {
  const int descriptor = create(name, 07777);
  if (descriptor < 0 && errno == EEXIST) return false;
  if (descriptor < 0) fail(name, errno);
  const bool is_whole = write_all(descriptor, text);
  const int error = errno;
  if (::close(descriptor) == 0 && is_whole) return true;
  ::unlinkat(descriptor_, name.c_str(), 0);
  fail(name, is_whole ? errno : error);
}

Folder Folder::folder(const std::string& name) const {
  const bool is_new = ::mkdirat(descriptor_, name.c_str(), shared_folder_mode()) == 0;
  if (!is_new && errno != EEXIST) fail(name, errno);
  const int descriptor = ::openat(descriptor_, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) fail(name, errno);
  Folder inner(path_ / name, descriptor, is_new);
  inner.require_own();
  if (is_new && shared_with() != SharedWith::Nobody) inner.share_with_others();
  return inner;
}

bool Folder::has(const std::string& name) const {
  struct stat status {};
  return ::fstatat(descriptor_, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  if (const Listing listing = list(descriptor_, "."))
    for_each_name(listing.get(), [&](const char* name) { names.emplace_back(name); });
  return names;
}

void Folder::rename(const std::string& name, const Folder& to, const std::string& new_name) const {
  if (::renameat(descriptor_, name.c_str(), to.descriptor_, new_name.c_str()) != 0) to.fail(new_name, errno);
}

bool Folder::remove(const std::string& name) const noexcept {
  return remove_tree(descriptor_, name.c_str());
}

void Folder::remove_abandoned(const std::string& name) const noexcept try {
  // ".name.0123abcd", and the form of version 0.1 for the timeline's.
  const std::string begin = fmt::format(".{}.", name), former = name + ".writing-";
  for (const std::string& left : names()) {
    if (!left.starts_with(former) && !(left.starts_with(begin) && left.size() == begin.size() + kNameDigits))
      continue;
    const int descriptor = open(left, O_RDONLY);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlinkat(descriptor_, left.c_str(), 0);
    ::close(descriptor);
  }
} catch (const std::exception&) {
  // The entry belongs to another user, or it is gone.
}

void Folder::share_with_others() const noexcept {
  const int descriptor = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat status {};
  if (descriptor < 0) return;
  if (::fstat(descriptor, &status) == 0)
    ::fchmod(descriptor, (status.st_mode & 07777) | shared_folder_mode());
  ::close(descriptor);
}

void Folder::share_file(const std::string& name) const noexcept {
  try {
    const int descriptor = open(name, O_RDONLY);
    ::fchmod(descriptor, shared_file_mode());
    ::close(descriptor);
  } catch (const WriteError&) {
    return;  // not a file of this user
  }
}

NewFile::NewFile(Folder folder, std::string name, mode_t mode)
    : folder_(std::move(folder)), name_(std::move(name)), descriptor_(-1) {
  for (int i = 0; i < kMaxNamesTried && descriptor_ < 0; ++i) {
    temporary_ = temporary_name(name_);
    descriptor_ = mode == 0 ? folder_.create(temporary_, 07777)
                            : ::openat(folder_.descriptor_, temporary_.c_str(),
                                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) folder_.fail(name_, errno);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // while it is being written: see remove_abandoned()
}

NewFile NewFile::beside(const fs::path& file, FolderOwner owner, mode_t mode) try {
  auto [directory, name] = split(file);
  return {Folder(directory, owner), std::move(name), mode};
} catch (const WriteError& error) {
  if (error.code() == std::errc::operation_not_permitted) throw;  // it belongs to another user
  fail_to_write(file, error.code().value());
}

NewFile::NewFile(NewFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlinkat(folder_.descriptor_, temporary_.c_str(), 0);
}

void NewFile::write(std::string_view text) const {
  if (!write_all(descriptor_, text)) folder_.fail(name_, errno);
}

void NewFile::keep() {
  if (::close(std::exchange(descriptor_, -1)) != 0) folder_.fail(name_, errno);  // reports a full disk on NFS
  give_name();
}

void NewFile::give_name() {
  folder_.rename(temporary_, folder_, name_);
  temporary_.clear();
}

int open_own_file(const fs::path& file, int flags) {
  const auto [directory, name] = split(file);
  return Folder(directory).open(name, flags);
}

void write_own_file(const fs::path& file, std::string_view text, mode_t at_most) {
  const auto [directory, name] = split(file);
  Folder(directory).write(name, text, at_most);
}

bool remove_own(const fs::path& path) noexcept try {
  const auto [directory, name] = split(path);
  return Folder(directory).remove(name);
} catch (const std::exception&) {
  std::error_code error;
  return !fs::exists(fs::symlink_status(path, error));
}

}  // namespace prof
