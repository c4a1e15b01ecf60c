#pragma once
// Reads the header of an ELF file, its segments and its sections. Input is untrusted; offsets that overflow
// are failures. Async-signal-safe if the source is (source.h).

#include <elf.h>

#include "hpcrun/elf/source.h"

namespace hpcrun {

enum class ElfStatus : uint8_t {
  Ok,          // 64-bit, little-endian; of any machine
  Unreadable,  // or shorter than a header
  NotElf,
  Foreign,  // 32-bit or big-endian
};

template <ElfSource Source>
[[nodiscard]] ElfStatus read_elf_header(const Source& source, Elf64_Ehdr& header) noexcept {
  if (!source.read(0, &header, sizeof header)) return ElfStatus::Unreadable;
  for (unsigned i = 0; i < SELFMAG; ++i)
    if (header.e_ident[i] != static_cast<unsigned char>(ELFMAG[i])) return ElfStatus::NotElf;
  const bool is_native = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
  return is_native ? ElfStatus::Ok : ElfStatus::Foreign;
}

// Counts that do not fit into the header are in the first section (System V ABI, extended numbering).
template <ElfSource Source>
[[nodiscard]] uint64_t section_count(const Source& source, const Elf64_Ehdr& header) noexcept {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  Elf64_Shdr first;
  if (header.e_shnum != 0) return header.e_shnum;
  return read_item(source, header.e_shoff, 0, first) ? first.sh_size : 0;
}

template <ElfSource Source>
[[nodiscard]] uint64_t segment_count(const Source& source, const Elf64_Ehdr& header) noexcept {
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return 0;
  Elf64_Shdr first;
  if (header.e_phnum != PN_XNUM) return header.e_phnum;
  return section_count(source, header) != 0 && read_item(source, header.e_shoff, 0, first) ? first.sh_info
                                                                                           : 0;
}

// Reads the section that holds the names of sections. Returns false if there is none.
template <ElfSource Source>
[[nodiscard]] bool read_name_section(const Source& source, const Elf64_Ehdr& header,
                                     Elf64_Shdr& names) noexcept {
  const uint64_t count = section_count(source, header);
  uint64_t number = header.e_shstrndx;
  if (number == SHN_XINDEX) {
    if (count == 0 || !read_item(source, header.e_shoff, 0, names)) return false;
    number = names.sh_link;
  }
  return number != SHN_UNDEF && number < count && read_item(source, header.e_shoff, number, names);
}

// Call use(header) with each segment or section until it returns true. Return true if one did.
template <ElfSource Source, typename Use>
bool any_segment(const Source& source, const Elf64_Ehdr& header, Use use) noexcept {
  return any_item<Elf64_Phdr>(source, header.e_phoff, segment_count(source, header), use);
}
template <ElfSource Source, typename Use>
bool any_section(const Source& source, const Elf64_Ehdr& header, Use use) noexcept {
  return any_item<Elf64_Shdr>(source, header.e_shoff, section_count(source, header), use);
}

// Finds the first segment of a type. Returns false if there is none.
template <ElfSource Source>
[[nodiscard]] bool find_segment(const Source& source, const Elf64_Ehdr& header, uint32_t type,
                                Elf64_Phdr& found) noexcept {
  return any_segment(source, header, [&](const Elf64_Phdr& segment) {
    if (segment.p_type == type) found = segment;
    return segment.p_type == type;
  });
}

// The same among program headers in memory, such as the loader's; nullptr if there is none.
[[nodiscard]] inline const Elf64_Phdr* find_segment(const Elf64_Phdr* segments, size_t count,
                                                    uint32_t type) noexcept {
  for (size_t i = 0; i < count; ++i)
    if (segments[i].p_type == type) return segments + i;
  return nullptr;
}

// True if a section has the name, which has at most 63 bytes. `names` is from read_name_section().
template <ElfSource Source>
[[nodiscard]] bool is_named(const Source& source, const Elf64_Shdr& names, const Elf64_Shdr& section,
                            std::string_view name) noexcept {
  return string_is(source, names.sh_offset, names.sh_size, section.sh_name, name);
}

// Returns the size of a file that ends with its section headers, as the vDSO does.
[[nodiscard]] inline uint64_t end_of_sections(const Elf64_Ehdr& header) noexcept {
  return header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace hpcrun
