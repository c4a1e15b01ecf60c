#include "analysis/team/shared_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "analysis/files/folder.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMagic = 0x3174726170'666f72;  // "rofpart1"

struct Header {
  uint64_t magic = kMagic;
  uint64_t bytes = 0;
  uint64_t checksum = 0;
};

constexpr char kRemoved[] = ".removed-";

uint64_t random_number() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

uint64_t checksum_of(std::string_view text) {
  uint64_t hash = 14695981039346656037u ^ text.size();
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t bytes = std::min(text.size(), sizeof word);
    std::memcpy(&word, text.data(), bytes);
    text.remove_prefix(bytes);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  return hash;
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags) : descriptor_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }

  bool read(void* to, size_t bytes) const {
    for (char* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t got = ::read(descriptor_, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }
  uint64_t size() const {
    const off_t end = ::lseek(descriptor_, 0, SEEK_END);
    ::lseek(descriptor_, 0, SEEK_SET);
    return end < 0 ? 0 : static_cast<uint64_t>(end);
  }

 private:
  int descriptor_;
};

}  // namespace

// Network file systems keep for half a minute that a name was not there; opening the folder makes them ask.
bool SharedFolder::refresh() const {
  return bool{Descriptor(path_, O_RDONLY | O_DIRECTORY)};
}

void SharedFolder::write(const std::string& name, std::string_view text) const {
  const Header header{.bytes = text.size(), .checksum = checksum_of(text)};
  try {
    NewFile file = NewFile::beside(path_ / name, FolderOwner::Own);
    file.write({reinterpret_cast<const char*>(&header), sizeof header});
    file.write(text);
    file.keep();
  } catch (const WriteError& error) {
    throw std::system_error(error.code());
  }
}

std::optional<std::string> SharedFolder::read(const std::string& name) const {
  const Descriptor file(path_ / name, O_RDONLY);
  Header header;
  if (!file || !file.read(&header, sizeof header) || header.magic != kMagic) return std::nullopt;
  if (header.bytes != file.size() - sizeof header) return std::nullopt;
  std::string text(static_cast<size_t>(header.bytes), '\0');
  if (!file.read(&header, sizeof header) || !file.read(text.data(), text.size())) return std::nullopt;
  if (checksum_of(text) != header.checksum) return std::nullopt;
  return text;
}

bool SharedFolder::has(const std::string& name) const {
  std::error_code error;
  return fs::exists(path_ / name, error);
}

std::vector<std::string> SharedFolder::names() const {
  std::vector<std::string> names;
  std::error_code error;  // others may remove what is there
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  return names;
}

void SharedFolder::remove(const std::string& name) const {
  remove_own(path_ / name);
}

void SharedFolder::remove_all() const {
  const std::string name = path_.filename().string();
  const std::string prefix = name + kRemoved;
  try {
    const Folder above = Folder::above(path_);
    if (above.has(name))
      above.rename(name, above, fmt::format("{}{}-{}", prefix, ::getpid(), random_number()));
    for (const std::string& other : above.names())
      if (other.starts_with(prefix)) above.remove(other);
  } catch (const WriteError&) {
    return;  // what may not be removed stays
  }
}

}  // namespace prof
