#include "analysis/workers/shared_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <system_error>

#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"

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

}  // namespace

// Network file systems may cache for half a minute that a name did not exist. Opening the folder makes them
// check.
bool SharedFolder::refresh() const {
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor >= 0;
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
  const RegularFile file(path_ / name);
  const std::string head = file.is_open() ? file.read(0, sizeof(Header)).value_or("") : "";
  Header header;
  if (head.size() != sizeof header) return std::nullopt;
  std::memcpy(&header, head.data(), sizeof header);
  if (header.magic != kMagic || header.bytes != file.size() - sizeof header) return std::nullopt;
  std::optional<std::string> text = file.read(sizeof header, header.bytes);
  if (!text || text->size() != header.bytes || checksum_of(*text) != header.checksum) return std::nullopt;
  return text;
}

bool SharedFolder::has(const std::string& name) const {
  std::error_code error;
  return fs::exists(path_ / name, error);
}

std::vector<std::string> SharedFolder::names() const {
  std::vector<std::string> names;
  std::error_code error;  // others may remove files meanwhile
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
