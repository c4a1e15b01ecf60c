#include "hpcrun/measurement/regular_file.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

namespace prof {

namespace {

// Smaller files may have any holes: reading them is cheap.
constexpr int64_t kMaxUncheckedBytes = int64_t{64} << 20;
// prof reserves the space of its files before writing, so they have almost no holes.
constexpr int64_t kMaxHoleFactor = 64;  // bytes of the file per byte that is stored
constexpr int kMaxExtentsCounted = 4096;
constexpr uint64_t kBlock = uint64_t{1} << 16;

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (descriptor_ < 0 || ::fstat(descriptor_, &status_) != 0)
    refuse(errno);
  else if (!S_ISREG(status_.st_mode))
    refuse(EINVAL);
  else if (is_mostly_holes())
    refuse(EFBIG);
}

RegularFile::~RegularFile() {
  if (is_open()) ::close(descriptor_);
}

void RegularFile::refuse(int error) {
  if (is_open()) ::close(std::exchange(descriptor_, -1));
  error_ = error;
}

std::string RegularFile::reason() const {
  if (error_ == EINVAL) return "not a regular file";
  if (error_ == EFBIG) return "it consists almost entirely of holes";
  return std::generic_category().message(error_);
}

int RegularFile::release() {
  return std::exchange(descriptor_, -1);
}

// File systems without support for holes report the whole file as stored.
bool RegularFile::is_mostly_holes() const {
  if (status_.st_size <= kMaxUncheckedBytes) return false;
  int64_t stored = 0;
  off_t end = 0;
  for (int i = 0; i < kMaxExtentsCounted; ++i) {
    const off_t begin = ::lseek(descriptor_, end, SEEK_DATA);
    if (begin < 0) break;  // a hole up to the end
    end = ::lseek(descriptor_, begin, SEEK_HOLE);
    if (end < 0) break;
    stored += end - begin;
    if (stored >= status_.st_size / kMaxHoleFactor) break;
  }
  ::lseek(descriptor_, 0, SEEK_SET);
  return stored < status_.st_size / kMaxHoleFactor;
}

std::optional<std::string> RegularFile::read(uint64_t offset, uint64_t bytes) const {
  assert(is_open());
  std::string text;
  while (text.size() < bytes) {
    const size_t have = text.size();
    text.resize(have + std::min(bytes - have, std::max<uint64_t>(kBlock, have)));
    ssize_t got = 0;
    do got = ::pread(descriptor_, text.data() + have, text.size() - have, static_cast<off_t>(offset + have));
    while (got < 0 && errno == EINTR);
    if (got < 0) return std::nullopt;
    text.resize(have + static_cast<size_t>(got));
    if (got == 0) break;
  }
  return text;
}

// Reads one byte more than the limit, because files in /proc have no size.
std::optional<std::string> read_regular_file(const std::filesystem::path& path, uint64_t max_bytes) {
  const RegularFile file(path);
  if (!file.is_open() || file.size() > max_bytes) return std::nullopt;
  std::optional<std::string> text = file.read(0, max_bytes + 1);
  return text && text->size() <= max_bytes ? std::move(text) : std::nullopt;
}

}  // namespace prof
