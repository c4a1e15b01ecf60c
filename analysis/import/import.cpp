#include "analysis/import/import.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analysis/import/formats.h"

namespace prof {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr size_t kLookedAt = 4096;  // bytes to check of a file without a magic number
constexpr size_t kReadBytes = size_t{1} << 20;

[[noreturn]] void cannot_open(const std::string& name, const char* why) {
  throw ImportError(ImportError::Kind::CannotOpen, fmt::format("cannot read {}: {}", name, why));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDIN_FILENO) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Maps a regular file, so that a large one needs no memory.
class Mapping {
 public:
  Mapping(int fd, size_t bytes)
      : bytes_(bytes), start_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0)) {}
  Mapping(const Mapping&) = delete;
  ~Mapping() {
    if (start_ != MAP_FAILED) munmap(start_, bytes_);
  }
  bool good() const { return start_ != MAP_FAILED; }
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(start_), bytes_}; }

 private:
  size_t bytes_;
  void* start_;
};

std::vector<uint8_t> read_to_end(int fd, const std::string& name) {
  std::vector<uint8_t> bytes;
  for (;;) {
    const size_t before = bytes.size();
    bytes.resize(before + kReadBytes);
    const ssize_t count = read(fd, bytes.data() + before, kReadBytes);
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) cannot_open(name, std::strerror(errno));
  }
}

bool is_text(std::span<const uint8_t> bytes) {
  return std::ranges::none_of(bytes.first(std::min(bytes.size(), kLookedAt)), [](uint8_t byte) {
    return byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t';
  });
}

// Profiles of pprof have no magic number. True for a message with consecutive fields from 1 to 15.
bool begins_like_pprof(std::span<const uint8_t> bytes) {
  constexpr uint8_t kLastField = 15;
  constexpr uint8_t kVarint = 0, kBytes = 2;
  if (bytes.empty()) return false;
  const uint8_t field = bytes[0] >> 3, type = bytes[0] & 7;
  return field >= 1 && field <= kLastField && (type == kVarint || type == kBytes);
}

ImportFormat recognise(std::span<const uint8_t> bytes, const std::string& name) {
  if (bytes.empty()) throw ImportError(ImportError::Kind::Damaged, fmt::format("{} is empty", name));
  if (is_perf_data(bytes)) return ImportFormat::Perf;
  const bool json = bytes[0] == '{' || bytes[0] == '[';
  if (is_text(bytes) && !json) return ImportFormat::Collapsed;
  if (begins_like_pprof(bytes) && !json) return ImportFormat::Pprof;
  throw ImportError(ImportError::Kind::Unknown,
                    fmt::format("{}: not a recording that can be imported; use perf.data, collapsed stacks "
                                "or a pprof profile, and name the format with --format",
                                name));
}

Import import_source(std::span<const uint8_t> bytes, const ImportSource& source,
                     const ImportOptions& options) {
  std::vector<uint8_t> contents;
  if (is_gzip(bytes)) {
    contents = gunzip(bytes, source);
    bytes = contents;
  }
  switch (options.format == ImportFormat::Recognise ? recognise(bytes, source.name) : options.format) {
    case ImportFormat::Perf:
      return import_perf(bytes, source, options);
    case ImportFormat::Pprof:
      return import_pprof(bytes, source, options);
    default:
      return import_collapsed(bytes, source);
  }
}

// The source files were named by the owner of the recording.
Import with_owner(Import imported, const ImportSource& source) {
  imported.database.measured_users = {source.owner};
  return imported;
}

}  // namespace

Import import_bytes(std::span<const uint8_t> bytes, const std::string& name, const ImportOptions& options) {
  return import_source(bytes, {name}, options);
}

Import import_file(const std::filesystem::path& file, const ImportOptions& options) {
  const bool standard_input = file == "-";
  ImportSource source{standard_input ? "standard input" : file.string()};
  const Descriptor descriptor(standard_input ? STDIN_FILENO : open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (descriptor.get() < 0 || fstat(descriptor.get(), &status) != 0)
    cannot_open(source.name, std::strerror(errno));
  if (S_ISDIR(status.st_mode))
    cannot_open(source.name,
                "it is a directory; open databases and measurements with `prof report`; recordings of `perf "
                "record --threads` cannot be imported");
  source.written_ns = static_cast<uint64_t>(status.st_mtim.tv_sec) * kSecondNs +
                      static_cast<uint64_t>(status.st_mtim.tv_nsec);
  source.owner = status.st_uid;
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const Mapping mapping(descriptor.get(), static_cast<size_t>(status.st_size));
    if (mapping.good()) return with_owner(import_source(mapping.bytes(), source, options), source);
  }
  const std::vector<uint8_t> bytes = read_to_end(descriptor.get(), source.name);
  return with_owner(import_source(bytes, source, options), source);
}

}  // namespace prof
