#include "analysis/database/input.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "analysis/database/utf8.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

namespace fs = std::filesystem;
using Kind = DatabaseError::Kind;

constexpr std::string_view kReanalyze = "copy it again or analyze the measurements again";

[[noreturn]] void throw_unreadable(const fs::path& path, const std::string& why) {
  throw DatabaseError(Kind::Unreadable, fmt::format("{}: cannot read: {}; check the path and its permissions",
                                                    path.string(), why));
}

[[noreturn]] void throw_unreadable(const fs::path& path, int error) {
  throw_unreadable(path, std::strerror(error));
}

// Opens only regular files: opening a pipe would wait for its writer.
int open_regular(const fs::path& path, uint64_t& size) {
  RegularFile file(path);
  if (!file.is_open()) throw_unreadable(path, file.reason());
  size = file.size();
  return file.release();
}

}  // namespace

void throw_corrupt(const fs::path& path, std::string_view what) {
  throw DatabaseError(Kind::Corrupt, fmt::format("{}: damaged: {}; {}", path.string(), what, kReanalyze));
}

void Bytes::check_array(uint64_t offset, uint64_t count, uint64_t stride, uint64_t used,
                        std::string_view what) const {
  if (count == 0) return;
  if (stride < used) corrupt(fmt::format("the structures of the {} are too small", what));
  if (!contains(offset, 0) || count > (size() - (offset - begin_)) / stride) {
    corrupt(fmt::format("the {} do not fit into the file", what));
  }
}

std::string Bytes::string(uint64_t offset) const {
  if (!contains(offset, 1)) corrupt("a string lies outside the file");
  const char* const first = data_.data() + (offset - begin_);
  const char* const last = data_.data() + data_.size();
  const char* const end = std::find(first, last, '\0');
  if (end == last) corrupt("a string has no end");
  return valid_utf8({first, static_cast<size_t>(end - first)});
}

void Bytes::corrupt(std::string_view what) const {
  throw_corrupt(file_, what);
}

InputFile::InputFile(const fs::path& directory, const format::FileKind& kind)
    : path_(directory / kind.name), descriptor_(open_regular(path_, size_)) {
  try {
    check_identity(kind);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::check_identity(const format::FileKind& kind) const {
  const auto fail = [&](Kind reason, const std::string& what) {
    throw DatabaseError(reason, fmt::format("{}: {}", path_.string(), what));
  };
  const std::string remedy = "give the directory that `prof analyze` or HPCToolkit's hpcprof wrote";
  std::string head(std::min<uint64_t>(size_, format::kSectionsOffset), '\0');
  read_bytes(head.data(), 0, head.size());
  const size_t known = std::min(head.size(), format::kMagic.size());
  if (head.empty() || head.substr(0, known) != format::kMagic.substr(0, known)) {
    fail(Kind::NotADatabase, "not a file of a database; " + remedy);
  }
  if (head.size() < format::kSectionsOffset) {
    fail(Kind::Truncated, fmt::format("the file ends inside its header; {}", kReanalyze));
  }
  if (std::string_view(head).substr(format::kMagic.size(), kind.tag.size()) != kind.tag) {
    fail(Kind::NotADatabase, fmt::format("not a {}, despite its name; {}", kind.name, remedy));
  }
  const auto version = static_cast<uint8_t>(head[format::kVersionOffset]);
  if (version != format::kMajorVersion) {
    fail(Kind::WrongVersion,
         fmt::format("format version {}, but this prof reads version {}; {}", version, format::kMajorVersion,
                     version > format::kMajorVersion
                         ? "use a newer prof"
                         : "analyze the measurements again with a newer HPCToolkit"));
  }
  std::string foot(format::kFooterBytes, '\0');
  if (size_ >= format::header_bytes(kind) + foot.size())
    read_bytes(foot.data(), size_ - foot.size(), foot.size());
  if (foot != kind.footer) {
    fail(Kind::Truncated, fmt::format("the file ends before its footer; {}", kReanalyze));
  }
}

void InputFile::check_range(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset) corrupt("a pointer leads outside the file");
}

void InputFile::read_into(std::vector<char>& buffer, uint64_t offset, uint64_t size) const {
  check_range(offset, size);
  buffer.resize(static_cast<size_t>(size));
  read_bytes(buffer.data(), offset, buffer.size());
}

Bytes InputFile::read(uint64_t offset, uint64_t size) const {
  std::vector<char> data;
  read_into(data, offset, size);
  return Bytes(path_, offset, std::move(data));
}

Bytes InputFile::read_section(size_t index) const {
  const Bytes header = read(format::kSectionsOffset + 16 * index, 16);
  return read(header.at<uint64_t>(header.begin() + 8), header.at<uint64_t>(header.begin()));
}

void InputFile::read_bytes(char* to, uint64_t offset, size_t size) const {
  while (size > 0) {
    const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_unreadable(path_, errno);
    if (got == 0) {
      throw DatabaseError(Kind::Truncated,
                          fmt::format("{}: was truncated while it was read; {}", path_.string(), kReanalyze));
    }
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

void InputFile::corrupt(std::string_view what) const {
  throw_corrupt(path_, what);
}

std::string read_text_file(const fs::path& path, uint64_t limit) {
  uint64_t size = 0;
  const int descriptor = open_regular(path, size);
  std::string text(static_cast<size_t>(std::min(size, limit)), '\0');
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  const int error = errno;
  ::close(descriptor);
  if (got < 0) throw_unreadable(path, error);
  if (size > limit) throw_corrupt(path, fmt::format("more than {} bytes", limit));
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace prof
