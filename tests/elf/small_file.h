#pragma once
// Writes a small ELF file: header, segments, sections with their names, and what they hold. Tests damage it.

#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace prof::test {

template <typename T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string a_note(uint32_t type, std::string_view name, std::string_view description,
                          size_t align = 4) {
  std::string note;
  append(note,
         Elf64_Nhdr{static_cast<uint32_t>(name.size() + 1), static_cast<uint32_t>(description.size()), type});
  const auto pad = [&] { note.resize((note.size() + align - 1) / align * align); };
  note.append(name).push_back('\0');
  pad();
  note.append(description);
  pad();
  return note;
}

class SmallFile {
 public:
  struct Section {
    std::string name;
    uint32_t type = SHT_PROGBITS;
    std::string bytes;
    uint64_t offset = 0;
  };

  // Sections are also loadable segments, in their order; notes and dynamic sections are segments of their
  // kind.
  SmallFile& add(std::string name, uint32_t type, std::string bytes) {
    sections_.push_back({std::move(name), type, std::move(bytes)});
    return *this;
  }
  // As files of more than 65,279 sections do.
  SmallFile& number_by_first_section() {
    is_extended_ = true;
    return *this;
  }

  std::string bytes() const {
    std::vector<Section> sections = sections_;
    std::string names(1, '\0');
    std::vector<Elf64_Shdr> headers(1);
    std::vector<Elf64_Phdr> segments;
    sections.push_back({".shstrtab", SHT_STRTAB, {}});
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    std::string file(sizeof header, '\0');
    for (Section& section : sections) {
      Elf64_Shdr entry{};
      entry.sh_name = static_cast<uint32_t>(names.size());
      entry.sh_type = section.type;
      names.append(section.name).push_back('\0');
      if (section.name == ".shstrtab") section.bytes = names;
      file.resize((file.size() + 7) / 8 * 8);
      entry.sh_offset = file.size();
      entry.sh_size = section.bytes.size();
      file += section.bytes;
      headers.push_back(entry);
      Elf64_Phdr segment{};
      segment.p_type = section.type == SHT_NOTE      ? PT_NOTE
                       : section.type == SHT_DYNAMIC ? PT_DYNAMIC
                                                     : PT_LOAD;
      segment.p_offset = segment.p_vaddr = entry.sh_offset;
      segment.p_filesz = segment.p_memsz = entry.sh_size;
      segment.p_align = 4;
      segments.push_back(segment);
    }
    file.resize((file.size() + 7) / 8 * 8);
    header.e_phoff = file.size();
    header.e_phnum = static_cast<uint16_t>(segments.size());
    header.e_shnum = static_cast<uint16_t>(headers.size());
    header.e_shstrndx = static_cast<uint16_t>(headers.size() - 1);
    if (is_extended_) {
      headers[0].sh_size = headers.size();
      headers[0].sh_link = static_cast<uint32_t>(headers.size() - 1);
      headers[0].sh_info = static_cast<uint32_t>(segments.size());
      header.e_shnum = 0;
      header.e_shstrndx = SHN_XINDEX;
      header.e_phnum = PN_XNUM;
    }
    for (const Elf64_Phdr& segment : segments) append(file, segment);
    header.e_shoff = file.size();
    for (const Elf64_Shdr& entry : headers) append(file, entry);
    std::memcpy(file.data(), &header, sizeof header);
    return file;
  }

 private:
  std::vector<Section> sections_;
  bool is_extended_ = false;
};

}  // namespace prof::test
