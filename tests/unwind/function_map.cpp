#include "tests/unwind/function_map.h"

#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

namespace prof_test {

bool FunctionMap::load(const char* file, const char* const* names, uint16_t name_count) {
  std::unordered_map<std::string, uint16_t> numbers;
  for (uint16_t i = 1; i < name_count; ++i) numbers[names[i]] = i;
  elf_version(EV_CURRENT);
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
  struct Range {
    uint64_t start;
    uint64_t size;
    uint16_t number;
  };
  std::vector<Range> ranges;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0)
        continue;
      std::string name = elf_strptr(elf, header.sh_link, symbol.st_name);
      name.resize(std::min(name.size(), name.find('.')));
      const auto found = numbers.find(name);
      if (found != numbers.end()) ranges.push_back({symbol.st_value, symbol.st_size, found->second});
    }
  }
  elf_end(elf);
  close(fd);
  if (ranges.empty()) return false;
  uint64_t end = 0;
  first_ = ranges[0].start;
  for (const Range& range : ranges) {
    first_ = std::min(first_, range.start);
    end = std::max(end, range.start + range.size);
  }
  functions_.assign(end - first_, 0);
  for (const Range& range : ranges) {
    std::fill_n(functions_.begin() + static_cast<long>(range.start - first_), range.size, range.number);
  }
  named_ = ranges.size();
  return true;
}

}  // namespace prof_test
