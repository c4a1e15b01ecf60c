#include "prof/attach/elf_symbols.h"

#include <elf.h>

#include "hpcrun/measurement/regular_file.h"

namespace prof {

namespace {

constexpr uint64_t kMaxBytes = 1 << 30;

}  // namespace

ElfFile::ElfFile(const std::string& path) {
  bytes_ = read_regular_file(path, kMaxBytes).value_or("");
  if (bytes_.size() < sizeof(Elf64_Ehdr) || !bytes_.starts_with(ELFMAG)) bytes_.clear();
}

template <typename T>
const T* ElfFile::at(uint64_t offset, uint64_t count) const {
  if (offset > bytes_.size() || count > (bytes_.size() - offset) / sizeof(T) || offset % alignof(T) != 0)
    return nullptr;
  return reinterpret_cast<const T*>(bytes_.data() + offset);
}

bool ElfFile::is_64bit_x86() const {
  const auto* header = at<Elf64_Ehdr>(0);
  return header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64;
}

bool ElfFile::has_section(std::string_view name) const {
  if (!is_64bit_x86()) return false;
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (!sections || header->e_shstrndx >= header->e_shnum) return false;
  const Elf64_Shdr& names = sections[header->e_shstrndx];
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    const char* text = at<char>(names.sh_offset + sections[i].sh_name, name.size() + 1);
    if (text && std::string_view(text, name.size()) == name && text[name.size()] == '\0') return true;
  }
  return false;
}

bool ElfFile::is_position_independent() const {
  return is_64bit_x86() && at<Elf64_Ehdr>(0)->e_type == ET_DYN;
}

void ElfFile::for_each_function(const std::function<void(std::string_view, uint64_t, uint64_t)>& use) const {
  if (!is_64bit_x86()) return;
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (uint64_t i = 0; sections && i < header->e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if ((table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) || table.sh_link >= header->e_shnum)
      continue;
    const Elf64_Shdr& names = sections[table.sh_link];
    const char* const texts = at<char>(names.sh_offset, names.sh_size);
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, count);
    for (uint64_t s = 0; texts && symbols && s < count; ++s) {
      if (symbols[s].st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC) continue;
      if (symbols[s].st_name >= names.sh_size) continue;
      const char* const name = texts + symbols[s].st_name;
      use({name, strnlen(name, names.sh_size - symbols[s].st_name)}, symbols[s].st_value, symbols[s].st_size);
    }
  }
}

uint64_t ElfFile::function(std::string_view name) const {
  if (!is_64bit_x86()) return 0;
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* sections = at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  for (uint64_t i = 0; sections && i < header->e_shnum; ++i) {
    const Elf64_Shdr& table = sections[i];
    if (table.sh_type != SHT_DYNSYM || table.sh_link >= header->e_shnum) continue;
    const uint64_t names = sections[table.sh_link].sh_offset;
    const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table.sh_offset, count);
    for (uint64_t s = 0; symbols && s < count; ++s) {
      if (symbols[s].st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbols[s].st_info) != STT_FUNC) continue;
      const char* text = at<char>(names + symbols[s].st_name, name.size() + 1);
      if (text && std::string_view(text, name.size()) == name && text[name.size()] == '\0')
        return symbols[s].st_value;
    }
  }
  return 0;
}

uint64_t ElfFile::find_code(std::string_view wanted) const {
  if (!is_64bit_x86()) return 0;
  const auto* header = at<Elf64_Ehdr>(0);
  const auto* segments = at<Elf64_Phdr>(header->e_phoff, header->e_phnum);
  for (uint64_t i = 0; segments && i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_LOAD || !(segments[i].p_flags & PF_X)) continue;
    const char* code = at<char>(segments[i].p_offset, segments[i].p_filesz);
    if (!code) continue;
    const size_t found = std::string_view(code, segments[i].p_filesz).find(wanted);
    if (found != std::string_view::npos) return segments[i].p_vaddr + found;
  }
  return 0;
}

}  // namespace prof
