#include "analysis/attribution/debug_file.h"

#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "analysis/attribution/expanded_file.h"
#include "analysis/attribution/hex.h"
#include "hpcrun/measurement/regular_file.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

std::vector<uint8_t> build_id_of_file(int fd) {
  Elf* const elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  std::vector<uint8_t> id = elf == nullptr ? std::vector<uint8_t>{} : build_id_of(elf);
  elf_end(elf);
  return id;
}

// Returns the checksum that .gnu_debuglink states: CRC-32 of the whole file, as zlib computes it.
uint32_t crc32_of_file(int fd) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
      table[i] = value;
    }
    return table;
  }();
  std::array<char, 1 << 16> block{};
  uint32_t crc = ~0u;
  off_t at = 0;
  for (ssize_t got; (got = pread(fd, block.data(), block.size(), at)) > 0; at += got) {
    for (ssize_t i = 0; i < got; ++i) {
      crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(block[static_cast<size_t>(i)])) & 0xff];
    }
  }
  return ~crc;
}

// Opens a candidate if it belongs to the module: by build-id if the module has one, else by checksum.
int open_matching(const fs::path& path, std::span<const uint8_t> build_id, uint32_t crc) {
  const int fd = RegularFile(path).release();
  if (fd < 0) return -1;
  const bool matches =
      build_id.empty() ? crc32_of_file(fd) == crc : std::ranges::equal(build_id_of_file(fd), build_id);
  if (matches) return expand_sections(fd);
  close(fd);
  return -1;
}

// Opens the supplementary file that several debug files share (dwz); .gnu_debugaltlink has its name. libdw
// compares its build-id.
int open_supplementary(const char* debug_file, const char* link) {
  const fs::path path =
      fs::path(link).is_absolute() ? fs::path(link) : fs::path(debug_file).parent_path() / link;
  const int fd = RegularFile(path).release();
  return fd < 0 ? fd : expand_sections(fd);
}

}  // namespace

std::vector<uint8_t> build_id_of(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  if (size <= 0) return {};
  const auto* first = static_cast<const uint8_t*>(bytes);
  return {first, first + size};
}

int find_local_debug_file(Dwfl_Module* module, void** user_data, const char* /*module_name*/,
                          Dwarf_Addr /*base*/, const char* file_name, const char* debuglink_file,
                          GElf_Word debuglink_crc, char** debug_file_name) {
  const auto& options = *static_cast<const AttributionOptions*>(*user_data);
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module, &bias);
  const std::vector<uint8_t> build_id = elf == nullptr ? std::vector<uint8_t>{} : build_id_of(elf);

  const auto found = [&](const fs::path& path, int fd) {
    *debug_file_name = strdup(path.c_str());
    return fd;
  };
  const bool supplementary = debuglink_file != nullptr && debuglink_crc == 0 && file_name != nullptr &&
                             std::strchr(debuglink_file, '/') != nullptr;
  if (supplementary) return open_supplementary(file_name, debuglink_file);

  if (build_id.size() > 1) {
    const std::string digits = hex(build_id);
    for (const fs::path& root : options.debug_roots) {
      const fs::path path = root / ".build-id" / digits.substr(0, 2) / (digits.substr(2) + ".debug");
      if (const int fd = open_matching(path, build_id, 0); fd >= 0) return found(path, fd);
    }
  }
  if (debuglink_file == nullptr || file_name == nullptr) return -1;
  const fs::path folder = fs::absolute(file_name).parent_path();
  std::vector<fs::path> candidates = {folder / debuglink_file, folder / ".debug" / debuglink_file};
  for (const fs::path& root : options.debug_roots) {
    candidates.push_back(root / folder.relative_path() / debuglink_file);
  }
  for (const fs::path& path : candidates) {
    std::error_code ignored;
    if (fs::equivalent(path, file_name, ignored)) continue;
    if (const int fd = open_matching(path, build_id, debuglink_crc); fd >= 0) return found(path, fd);
  }
  return -1;
}

}  // namespace prof
