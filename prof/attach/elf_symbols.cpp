#include "prof/attach/elf_symbols.h"

#include <algorithm>
#include <cstring>

#include "hpcrun/measurement/regular_file.h"

namespace prof {

namespace {

constexpr uint64_t kMaxBytes = 1 << 30;

}  // namespace

ElfFile::ElfFile(const std::string& path) {
  bytes_ = read_regular_file(path, kMaxBytes).value_or("");
  const hpcrun::ElfStatus status = read_elf_header(source(), header_);
  if (status == hpcrun::ElfStatus::Unreadable || status == hpcrun::ElfStatus::NotElf) bytes_.clear();
  is_64bit_x86_ = status == hpcrun::ElfStatus::Ok && header_.e_machine == EM_X86_64;
}

bool ElfFile::has_section(std::string_view name) const {
  Elf64_Shdr names;
  return is_64bit_x86_ && read_name_section(source(), header_, names) &&
         any_section(source(), header_,
                     [&](const Elf64_Shdr& section) { return is_named(source(), names, section, name); });
}

bool ElfFile::is_position_independent() const {
  return is_64bit_x86_ && header_.e_type == ET_DYN;
}

template <typename Use>
bool ElfFile::any_function(std::initializer_list<uint32_t> tables, Use use) const {
  const auto in_table = [&](const Elf64_Shdr& table) {
    Elf64_Shdr names;
    if (std::ranges::find(tables, table.sh_type) == tables.end() ||
        table.sh_link >= section_count(source(), header_) ||
        !read_item(source(), header_.e_shoff, table.sh_link, names))
      return false;
    const hpcrun::Bytes texts = source().at(names.sh_offset, names.sh_size);
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    return hpcrun::any_item<Elf64_Sym>(source(), table.sh_offset, count, [&](const Elf64_Sym& symbol) {
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
          symbol.st_name >= texts.size)
        return false;
      const auto* const name = reinterpret_cast<const char*>(texts.data + symbol.st_name);
      return use(std::string_view(name, strnlen(name, texts.size - symbol.st_name)), symbol);
    });
  };
  return is_64bit_x86_ && any_section(source(), header_, in_table);
}

void ElfFile::for_each_function(const std::function<void(std::string_view, uint64_t, uint64_t)>& use) const {
  any_function({SHT_DYNSYM, SHT_SYMTAB}, [&](std::string_view name, const Elf64_Sym& symbol) {
    use(name, symbol.st_value, symbol.st_size);
    return false;
  });
}

uint64_t ElfFile::function(std::string_view name) const {
  uint64_t found = 0;
  any_function({SHT_DYNSYM}, [&](std::string_view its_name, const Elf64_Sym& symbol) {
    if (its_name == name) found = symbol.st_value;
    return its_name == name;
  });
  return found;
}

uint64_t ElfFile::find_code(std::string_view wanted) const {
  uint64_t found = 0;
  if (!is_64bit_x86_) return 0;
  any_segment(source(), header_, [&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) return false;
    const hpcrun::Bytes bytes = source().at(segment.p_offset, segment.p_filesz);
    const std::string_view code(reinterpret_cast<const char*>(bytes.data), bytes.size);
    const size_t at = code.find(wanted);
    if (at != std::string_view::npos) found = segment.p_vaddr + at;
    return at != std::string_view::npos;
  });
  return found;
}

}  // namespace prof
