#include "tests/analysis/attribution/elf_probe.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <numeric>

#include "analysis/attribution/debug_file.h"

namespace {

class OpenElf {
 public:
  explicit OpenElf(const std::filesystem::path& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
    INFO(path);
    REQUIRE(elf_ != nullptr);
  }
  ~OpenElf() {
    elf_end(elf_);
    close(fd_);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;
  Elf* get() const { return elf_; }

 private:
  int fd_;
  Elf* elf_ = nullptr;
};

}  // namespace

Extent function_extent(const std::filesystem::path& file, const std::string& name) {
  const OpenElf elf(file);
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf.get(), scn)) != nullptr;) {
    GElf_Shdr header;
    gelf_getshdr(scn, &header);
    if (header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* const data = elf_getdata(scn, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* const text = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && std::string(text).find(name) != std::string::npos) {
        return {symbol.st_value, symbol.st_value + symbol.st_size};
      }
    }
  }
  FAIL("no symbol " << name << " in " << file);
  return {};
}

std::vector<Extent> section_extents(const std::filesystem::path& file, const std::string& prefix) {
  const OpenElf elf(file);
  std::vector<Extent> extents;
  size_t names = 0;
  elf_getshdrstrndx(elf.get(), &names);
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf.get(), scn)) != nullptr;) {
    GElf_Shdr header;
    gelf_getshdr(scn, &header);
    if (std::string(elf_strptr(elf.get(), names, header.sh_name)).starts_with(prefix)) {
      extents.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    }
  }
  return extents;
}

std::vector<uint8_t> build_id(const std::filesystem::path& file) {
  return prof::build_id_of(OpenElf(file).get());
}

std::vector<uint64_t> addresses_of(Extent extent) {
  std::vector<uint64_t> addresses(extent.end - extent.start);
  std::iota(addresses.begin(), addresses.end(), extent.start);
  return addresses;
}

uint32_t marked_line(const std::filesystem::path& source, const std::string& mark) {
  std::ifstream in(source);
  uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.ends_with("// at: " + mark)) return number;
  }
  FAIL("no mark " << mark << " in " << source);
  return 0;
}

// Appends the compressed bytes, so that all other offsets stay.
void compress_by_zstd(const std::filesystem::path& from, const std::filesystem::path& to,
                      const std::vector<std::string>& prefixes) {
  std::ifstream in(from, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto read = [&](auto& value, uint64_t at) { std::memcpy(&value, bytes.data() + at, sizeof value); };
  Elf64_Ehdr file;
  Elf64_Shdr names;
  read(file, 0);
  read(names, file.e_shoff + file.e_shstrndx * sizeof names);
  int compressed = 0;
  for (size_t i = 0; i < file.e_shnum; ++i) {
    Elf64_Shdr section;
    const uint64_t at = file.e_shoff + i * sizeof section;
    read(section, at);
    const std::string name = bytes.c_str() + names.sh_offset + section.sh_name;
    if (std::ranges::none_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); }))
      continue;
    constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD
    const Elf64_Chdr how{kZstd, 0, section.sh_size, section.sh_addralign};
    std::string packed(ZSTD_compressBound(section.sh_size), '\0');
    packed.resize(
        ZSTD_compress(packed.data(), packed.size(), bytes.data() + section.sh_offset, section.sh_size, 1));
    bytes.resize((bytes.size() + 7) / 8 * 8);
    section.sh_flags |= SHF_COMPRESSED;
    section.sh_offset = bytes.size();
    section.sh_size = sizeof how + packed.size();
    section.sh_addralign = alignof(Elf64_Chdr);
    std::memcpy(bytes.data() + at, &section, sizeof section);
    bytes.append(reinterpret_cast<const char*>(&how), sizeof how);
    bytes += packed;
    ++compressed;
  }
  REQUIRE(compressed > 0);
  std::ofstream(to, std::ios::binary) << bytes;
}
