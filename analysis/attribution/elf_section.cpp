#include "analysis/attribution/elf_section.h"

#include <gelf.h>

namespace prof {

ElfSection find_section(Elf* elf, std::string_view name) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS) continue;
    const char* own_name = elf_strptr(elf, names, header.sh_name);
    if (!own_name || name != own_name) continue;
    if ((header.sh_flags & SHF_COMPRESSED) && elf_compress(section, 0, 0) < 0) return {};
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (!data || !data->d_buf) return {};
    return {header.sh_addr, {static_cast<const uint8_t*>(data->d_buf), data->d_size}};
  }
  return {};
}

}  // namespace prof
