#include "hpcrun/measurement/stored_file.h"

#include <algorithm>
#include <system_error>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;  // perf maps are held in memory; records are far smaller

}  // namespace

std::optional<StoredFile> find_stored(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return StoredFile(path);
  if (!std::filesystem::is_regular_file(path.parent_path(), error)) return std::nullopt;
  ContainerReader container(path.parent_path());
  container.read_on();
  container.read_rest();
  const auto found = std::ranges::find(container.members(), path, &StoredFile::path);
  return found == container.members().end() ? std::nullopt : std::optional(*found);
}

std::optional<std::string> contents_of(const StoredFile& file) {
  if (!file.is_member()) return read_regular_file(file.path, kMaxBytes);
  if (file.bytes > kMaxBytes) return std::nullopt;
  const std::string text = beginning_of(file, file.bytes);
  hpcrun::detect_crc32c();
  if (text.size() != file.bytes || hpcrun::crc32c(0, text.data(), text.size()) != file.checksum)
    return std::nullopt;
  return text;
}

std::string beginning_of(const StoredFile& file, size_t bytes) {
  const RegularFile in(file.is_member() ? file.container : file.path);
  if (!in.is_open()) return {};
  return in.read(file.offset, file.is_member() ? std::min<uint64_t>(bytes, file.bytes) : bytes).value_or("");
}

}  // namespace prof
