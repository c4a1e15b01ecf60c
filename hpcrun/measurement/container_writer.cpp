#include "hpcrun/measurement/container_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container_format.h"

namespace prof {

using hpcrun::ContainerHeader;
using hpcrun::MemberHeader;

namespace {

constexpr size_t kBlockBytes = 1u << 20;

[[noreturn]] void fail_with(int error, const std::filesystem::path& path) {
  throw std::system_error(error, std::generic_category(), path.string());
}

class Opened {
 public:
  Opened(const std::filesystem::path& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (number_ < 0) fail_with(errno, path);
  }
  ~Opened() {
    if (number_ >= 0) ::close(number_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

void write_all(int descriptor, const void* from, size_t bytes, uint64_t to,
               const std::filesystem::path& path) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor, at, bytes, static_cast<off_t>(to));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_with(written < 0 ? errno : ENOSPC, path);
    at += written;
    to += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
}

bool is_zero(const char* block, size_t bytes) {
  return std::all_of(block, block + bytes, [](char byte) { return byte == 0; });
}

}  // namespace

void ContainerWriter::create(const std::filesystem::path& path, const ContainerOwner& owner) {
  hpcrun::detect_crc32c();
  std::array<char, hpcrun::kContainerHeaderBytes> page{};
  ContainerHeader header{};
  std::memcpy(header.magic, hpcrun::kContainerMagic, sizeof header.magic);
  header.major = hpcrun::kContainerMajor;
  header.minor = hpcrun::kContainerMinor;
  header.byte_order = hpcrun::kByteOrderMark;
  header.header_bytes = hpcrun::kContainerHeaderBytes;
  size_t strings = 0;
  for (const auto& [text, bytes] :
       {std::pair(&owner.host, &header.host_bytes), std::pair(&owner.local, &header.local_bytes),
        std::pair(&owner.place, &header.place_bytes)}) {
    const size_t room = page.size() - sizeof header - strings;
    const size_t taken = std::min(room, text->size());
    std::memcpy(page.data() + sizeof header + strings, text->data(), taken);
    *bytes = static_cast<uint32_t>(taken);
    strings += taken;
  }
  header.checksum = hpcrun::crc32c(hpcrun::crc32c(0, &header, offsetof(ContainerHeader, checksum)),
                                   page.data() + sizeof header, strings);
  std::memcpy(page.data(), &header, sizeof header);
  const Opened file(path, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file.number(), page.data(), page.size(), 0, path);
}

ContainerWriter::ContainerWriter(std::filesystem::path path, uint64_t known_end) : path_(std::move(path)) {
  ContainerReader reader(path_, known_end);
  if (!reader.is_container()) fail_with(ENOENT, path_);
  reader.read_on();
  reader.read_rest();
  end_ = reader.end();
  descriptor_ = Opened(path_, O_WRONLY).release();
  cut();
}

ContainerWriter::~ContainerWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ContainerWriter::cut() {
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && static_cast<uint64_t>(status.st_size) > end_ &&
      ::ftruncate(descriptor_, static_cast<off_t>(end_)) != 0)
    fail_with(errno, path_);
}

uint32_t ContainerWriter::copy(int from, uint64_t bytes, uint64_t to) {
  std::vector<char> block(static_cast<size_t>(std::min<uint64_t>(bytes, kBlockBytes)));
  uint32_t sum = 0;
  for (uint64_t done = 0; done < bytes;) {
    const size_t part = static_cast<size_t>(std::min<uint64_t>(block.size(), bytes - done));
    const ssize_t got = ::pread(from, block.data(), part, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail_with(got < 0 ? errno : EIO, path_);  // no process writes to it any more
    sum = hpcrun::crc32c(sum, block.data(), static_cast<size_t>(got));
    // Blocks of zeros, reserved by a killed process, become holes.
    if (!is_zero(block.data(), static_cast<size_t>(got)))
      write_all(descriptor_, block.data(), static_cast<size_t>(got), to + done, path_);
    done += static_cast<uint64_t>(got);
  }
  return sum;
}

void ContainerWriter::add(const std::filesystem::path& file) {
  const Opened from(file, O_RDONLY);
  struct stat status {};
  if (::fstat(from.number(), &status) != 0) fail_with(errno, file);
  const std::string name = file.filename().string();
  if (name.size() > hpcrun::kMaxNameBytes) fail_with(ENAMETOOLONG, file);
  const uint64_t begin = next_member(end_);
  std::array<char, hpcrun::kMemberHeaderBytes> page{};
  MemberHeader header{};
  std::memcpy(header.magic, hpcrun::kMemberMagic, sizeof header.magic);
  header.at = begin;
  header.bytes = static_cast<uint64_t>(status.st_size);
  header.header_bytes = hpcrun::kMemberHeaderBytes;
  header.name_bytes = static_cast<uint32_t>(name.size());
  const uint64_t end = begin + header.header_bytes + header.bytes;
  try {
    header.contents_checksum = copy(from.number(), header.bytes, begin + header.header_bytes);
    header.checksum = hpcrun::crc32c(hpcrun::crc32c(0, &header, offsetof(MemberHeader, checksum)),
                                     name.data(), name.size());
    std::memcpy(page.data(), &header, sizeof header);
    std::memcpy(page.data() + sizeof header, name.data(), name.size());
    if (::ftruncate(descriptor_, static_cast<off_t>(end)) != 0) fail_with(errno, path_);
    write_all(descriptor_, page.data(), page.size(), begin, path_);
  } catch (const std::system_error&) {
    [[maybe_unused]] const int stays = ::ftruncate(descriptor_, static_cast<off_t>(end_));
    throw;
  }
  end_ = end;
}

void ContainerWriter::sync() const {
  if (::fsync(descriptor_) != 0) fail_with(errno, path_);
}

}  // namespace prof
