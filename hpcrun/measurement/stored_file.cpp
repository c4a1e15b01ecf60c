#include "hpcrun/measurement/stored_file.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/container.h"

namespace prof {

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
  std::error_code error;
  const uint64_t bytes = file.is_member() ? file.bytes : std::filesystem::file_size(file.path, error);
  if (error) return std::nullopt;
  std::string text = beginning_of(file, bytes);
  hpcrun::detect_crc32c();
  if (file.is_member() &&
      (text.size() != bytes || hpcrun::crc32c(0, text.data(), text.size()) != file.checksum))
    return std::nullopt;
  return text;
}

std::string beginning_of(const StoredFile& file, size_t bytes) {
  std::ifstream in(file.is_member() ? file.container : file.path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(file.offset));
  std::string text(file.is_member() ? std::min<uint64_t>(bytes, file.bytes) : bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

}  // namespace prof
