#include "prof/ranks/node_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <system_error>

#include "analysis/files/folder.h"
#include "analysis/pipeline/stored_files.h"
#include "hpcrun/measurement/container_format.h"
#include "hpcrun/measurement/container_writer.h"
#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"
#include "prof/launch/measured_process.h"
#include "prof/ranks/clock_exchange.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Files of the node's directory. The first is a lock that all present ranks share. The second is a lock held
// by the rank that adds to the container; its contents name the container, and the length up to which it is
// complete.
constexpr char kPresenceFile[] = "present";
constexpr char kContainerFile[] = "container";
constexpr char kNoticeFile[] = "told";
constexpr int kMaxContainersOfHost = 1000;

// Throws std::system_error.
int open_lock(const fs::path& path) try {
  return open_own_file(path, O_RDWR | O_CREAT);
} catch (const WriteError& error) {
  throw std::system_error(error.code(), path.string());
}

class Lock {
 public:
  explicit Lock(const fs::path& path) : descriptor_(open_lock(path)) {
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      close(descriptor_);
      descriptor_ = -1;
      errno = error;
    }
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path.string());
  }
  ~Lock() { close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

// Delays signals that would end prof until it has finished adding.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);  // raised by accesses to truncated files (cut_files.h)
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

struct KnownContainer {
  std::string name;  // empty: not created yet
  uint64_t end = 0;
};

KnownContainer known_container(const fs::path& local) {
  KnownContainer known;
  std::istringstream in(read_regular_file(local / kContainerFile).value_or(""));
  if (!(in >> known.end) || !in.ignore() || !std::getline(in, known.name)) return {};
  return known;
}

// Stores the container's state in the lock's own file, which is not replaced.
void keep_known(const fs::path& local, const KnownContainer& known) {
  const std::string line = fmt::format("{:020} {}\n", known.end, known.name);
  const int file = open_lock(local / kContainerFile);
  [[maybe_unused]] const ssize_t written = pwrite(file, line.data(), line.size(), 0);
  close(file);
}

fs::path folder_of_node() {
  const char* const folder = getenv("TMPDIR");
  return folder && *folder ? fs::absolute(folder) : fs::path("/tmp");
}

std::string as_node_file_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text;
}

// Identifies the file system and kernel: locks are shared by processes that use the same file under the same
// kernel.
std::string place_of(const fs::path& local) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat folder {};
  stat(local.parent_path().c_str(), &folder);
  return fmt::format("{} {}:{} {}", boot, folder.st_dev, folder.st_ino, local.filename().string());
}

bool is_own_directory(const fs::path& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 022) == 0;
}

// Returns the map of a file: the process in "<host>-<rank>-<pid>-<n>.prof" has its map in "<host>-<pid>.map".
fs::path map_beside(const fs::path& file, const std::string& host) {
  const std::string name = file.stem().string();
  const size_t number = name.rfind('-');
  const size_t pid = number == name.npos || number == 0 ? name.npos : name.rfind('-', number - 1);
  return pid == name.npos
             ? fs::path()
             : file.parent_path() / fmt::format("{}-{}.map", host, name.substr(pid + 1, number - pid - 1));
}

bool is_left_by_rank(const fs::path& file) {
  const fs::path kind = file.extension();
  return kind == ".prof" || kind == ".json" || kind == ".map";
}

std::vector<fs::path> files_in(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error))
    if (is_left_by_rank(at->path())) files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

bool is_still_measured(const fs::path& file) {
  if (file.extension() != ".prof") return false;
  const RunningProcess process(file);
  return process.is_valid() && process.is_running();
}

}  // namespace

uint64_t token_of_launch() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

NodeDirectory::NodeDirectory(const fs::path& common, const std::string& launch, uint64_t token,
                             const std::function<void(const fs::path&)>& prepare)
    : common_(common) {
  const std::string host = host_name();
  path_ = folder_of_node() / as_node_file_name(fmt::format("prof-{}-{}-{:016x}", launch, host, token));
  owner_ = {host, path_.string(), place_of(path_)};
  try {
    while (!join()) {
    }
    open_container(prepare);
  } catch (const std::system_error& error) {
    if (present_ >= 0) leave();
    fail(kOwnFailure, "cannot measure on this node in {}: {}; set TMPDIR to a folder on a disk of the node",
         path_.string(), error.code().message());
  } catch (const CommandError&) {
    if (present_ >= 0) leave();
    throw;
  }
}

NodeDirectory::~NodeDirectory() {
  if (present_ >= 0) leave();
}

// Returns false if the last rank was just leaving.
bool NodeDirectory::join() {
  try {
    Folder(path_.parent_path(), FolderOwner::Any).folder(path_.filename().string());
  } catch (const WriteError& error) {
    if (error.code() == std::errc::no_such_file_or_directory && fs::exists(path_.parent_path())) return false;
    throw std::system_error(error.code());
  }
  const fs::path file = path_ / kPresenceFile;
  try {
    present_ = open_lock(file);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::no_such_file_or_directory) return false;
    throw;
  }
  while (flock(present_, LOCK_SH) != 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category());
  struct stat held {
  }, named{};
  if (fstat(present_, &held) == 0 && stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino)
    return true;
  close(std::exchange(present_, -1));
  return false;
}

void NodeDirectory::open_container(const std::function<void(const fs::path&)>& prepare) {
  const Lock lock(path_ / kContainerFile);
  if (!known_container(path_).name.empty()) return;
  prepare(path_);
  KnownContainer made;
  made.end = hpcrun::kContainerHeaderBytes;
  made.name = make_container(made.end);
  keep_known(path_, made);
}

// Creates a container with a name that is unique per node, even if several nodes have the same host name. A
// rank that arrives after all other ranks of the node have left continues with their container.
std::string NodeDirectory::make_container(uint64_t& end) const {
  for (int i = 0; i < kMaxContainersOfHost; ++i) {
    const std::string name =
        (i == 0 ? owner_.host : fmt::format("{}+{}", owner_.host, i)) + std::string(hpcrun::kContainerSuffix);
    const fs::path path = common_ / as_node_file_name(name);
    try {
      ContainerWriter::create(path, owner_);
      return path.filename().string();
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::file_exists)
        fail(kOwnFailure, "cannot create {}: {}; choose another directory with -o", path.string(),
             error.code().message());
    }
    const ContainerReader present(path);
    if (!present.is_container())
      fail(kOwnFailure, "{} was not written by prof; choose another directory with -o", path.string());
    if (present.owner().place == owner_.place) {
      end = present.end();
      return path.filename().string();
    }
  }
  fail(kOwnFailure,
       "{} holds the measurements of another run; choose another directory with -o, or add --force",
       common_.string());
}

std::vector<fs::path> NodeDirectory::files_of(const std::string& file_prefix) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::path& file : files_in(path_)) {
    if (file.extension() != ".prof" || !file.filename().string().starts_with(file_prefix)) continue;
    if (is_still_measured(file)) continue;
    const fs::path map = map_beside(file, owner_.host);
    if (fs::exists(map, error) && std::ranges::find(files, map) == files.end()) files.push_back(map);
    files.push_back(file);
  }
  return files;
}

// Adds files. The lock is released before they are written to disk, so that other ranks need not wait for
// that: launchers that end a job soon kill all processes that have not ended.
void NodeDirectory::add(const std::vector<fs::path>& files, Whose whose) {
  if (files.empty()) return;
  const SignalsHeld held;
  const std::unique_ptr<const ContainerWriter> writer = write(files, whose);
  writer->sync();
  for (const fs::path& file : files) remove_own(file);
}

std::unique_ptr<ContainerWriter> NodeDirectory::write(const std::vector<fs::path>& files, Whose whose) {
  const Lock lock(path_ / kContainerFile);
  KnownContainer known = known_container(path_);
  const fs::path path = common_ / known.name;
  // A rank that was killed in here may have added some of its files.
  std::vector<StoredFile> there;
  if (whose == Whose::All) {
    ContainerReader container(path);
    container.read_on();
    container.read_rest();
    there = container.members();
  }
  std::error_code error;
  auto writer = std::make_unique<ContainerWriter>(path, known.end);
  for (const fs::path& file : files) {
    const bool is_there = std::ranges::any_of(there, [&](const StoredFile& member) {
      return member.path.filename() == file.filename() && member.bytes == fs::file_size(file, error);
    });
    if (!is_there) writer->add(file);
  }
  known.end = writer->end();
  keep_known(path_, known);
  return writer;
}

std::string NodeDirectory::remedy() const {
  return fmt::format("run `cp {}/*.* {}` on {}", path_.string(), common_.string(), owner_.host);
}

void NodeDirectory::say_once(const std::string& line) const {
  try {
    if (!Folder(path_).write_new(kNoticeFile, "")) return;
  } catch (const WriteError&) {
    // Every rank prints it then.
  }
  say_line(line);
}

bool NodeDirectory::collect(const std::string& file_prefix, const std::vector<fs::path>& others) {
  try {
    std::vector<fs::path> files = files_of(file_prefix);
    std::error_code error;
    std::ranges::copy_if(others, std::back_inserter(files),
                         [&](const fs::path& file) { return fs::exists(file, error); });
    add(files, Whose::Own);
    return true;
  } catch (const std::system_error& error) {
    say_once(fmt::format(
        "cannot add to {}: {}; the measurements of this node are kept in {}: free space, then {}",
        (common_ / known_container(path_).name).string(), error.code().message(), path_.string(), remedy()));
    return false;
  }
}

// The last rank adds the files of ranks whose `prof` was killed.
void NodeDirectory::leave() {
  if (flock(present_, LOCK_EX | LOCK_NB) == 0) {
    std::error_code error;
    std::vector<fs::path> left = files_in(path_);
    const bool has_notice = fs::exists(path_ / kNoticeFile, error);
    const auto running = std::stable_partition(left.begin(), left.end(),
                                               [](const fs::path& file) { return !is_still_measured(file); });
    const auto count = left.end() - running;
    left.erase(running, left.end());
    try {
      if (!has_notice) add(left, Whose::All);
      if (count > 0)
        say_once(fmt::format("{} of its processes still run on {} and are measured in {}: after they end, {}",
                             count, owner_.host, path_.string(), remedy()));
    } catch (const std::system_error& failure) {
      say_once(fmt::format(
          "cannot add to {}: {}; the measurements of this node are kept in {}: free space, then {}",
          common_.string(), failure.code().message(), path_.string(), remedy()));
    }
    if (files_in(path_).empty()) remove();
  }
  close(std::exchange(present_, -1));
}

// Removes its lock last. A rank that arrives meanwhile waits for the lock, and finds the directory gone.
void NodeDirectory::remove() const {
  std::error_code error;
  if (const std::string name = known_container(path_).name; !name.empty()) {
    ContainerReader container(common_ / name);
    container.read_on();
    container.read_rest();
    // Nothing was measured.
    if (container.members().empty() && container.damage().empty()) remove_own(container.path());
  }
  try {
    const Folder folder(path_);
    for (const std::string& name : folder.names())
      if (name != kPresenceFile) folder.remove(name);
    folder.remove(kPresenceFile);
    fs::remove(path_, error);  // if it is empty
  } catch (const WriteError&) {
    return;  // already removed
  }
}

std::vector<fs::path> node_directories(const fs::path& common) {
  std::vector<fs::path> directories;
  for (const fs::path& container : containers_in(common)) {
    const fs::path local = ContainerReader(container).owner().local;
    if (!local.empty() && is_own_directory(local)) directories.push_back(local);
  }
  return directories;
}

}  // namespace prof
