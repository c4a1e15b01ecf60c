#include "analysis/database/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/files/folder.h"

namespace prof {
namespace {

constexpr size_t kBufferBytes =
    1 << 20;  // with one write(2) per mebibyte, the call no longer shows in a profile

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw DatabaseError(
      DatabaseError::Kind::Unwritable,
      fmt::format("{}: cannot write: {}; free disk space, or choose another directory with -o", path.string(),
                  std::strerror(error)));
}

int open_to_write(const std::filesystem::path& path, int flags) try {
  return open_own_file(path, O_WRONLY | O_CREAT | flags);
} catch (const WriteError& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable, error.what());
}

void write_all(int descriptor, const std::filesystem::path& path, uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(path, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

}  // namespace

void OutputBuffer::put_string(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  char* const end = grow(text.size() + 1);
  std::memcpy(end, text.data(), text.size());
  end[text.size()] = '\0';
}

OutputFile::OutputFile(const std::filesystem::path& directory, const format::FileKind& kind)
    : path_(directory / kind.name),
      kind_(kind),
      descriptor_(open_to_write(path_, O_TRUNC)),
      sections_(kind.sections) {
  buffer_.put_zeros(format::header_bytes(kind));
}

OutputFile::OutputFile(const std::filesystem::path& directory, const format::FileKind& kind, uint64_t offset)
    : path_(directory / kind.name),
      kind_(kind),
      descriptor_(open_to_write(path_, 0)),
      flushed_(offset),
      sections_(kind.sections) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::align(size_t alignment) {
  buffer_.put_zeros(static_cast<size_t>((alignment - offset() % alignment) % alignment));
}

void OutputFile::flush_if_full() {
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::write(std::string_view bytes) {
  if (bytes.size() < kBufferBytes) {
    buffer_.append(bytes);
    flush_if_full();
    return;
  }
  flush();
  put(bytes);
}

uint64_t OutputFile::leave(uint64_t bytes) {
  flush();
  return std::exchange(flushed_, flushed_ + bytes);
}

void OutputFile::end_section(size_t index, uint64_t begin) {
  sections_[index] = {offset() - begin, begin};
}

void OutputFile::finish() {
  align(8);
  write(kind_.footer);
  flush();
  OutputBuffer header;
  for (const char c : format::kMagic) header.put(c);
  for (const char c : kind_.tag) header.put(c);
  header.put(format::kMajorVersion);
  header.put(format::kMinorVersion);
  for (const auto& [size, pointer] : sections_) {
    header.put(size);
    header.put(pointer);
  }
  write_at(0, header.view());
  close();
}

void OutputFile::close() {
  flush();
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail(path_, errno);  // network file systems report a full disk here
}

void OutputFile::flush() {
  put(buffer_.view());
  buffer_.clear();
}

void OutputFile::put(std::string_view bytes) {
  write_at(flushed_, bytes);
  flushed_ += bytes.size();
}

void OutputFile::write_at(uint64_t offset, std::string_view bytes) {
  write_all(descriptor_, path_, offset, bytes);
}

void write_text_file(const std::filesystem::path& path, std::string_view text, mode_t at_most) try {
  write_own_file(path, text, at_most);
} catch (const WriteError& error) {
  throw DatabaseError(DatabaseError::Kind::Unwritable, error.what());
}

}  // namespace prof
