#include "analysis/attribution/symbols.h"

#include <elf.h>

#include <algorithm>
#include <tuple>

namespace prof {
namespace {

struct Symbol {
  uint64_t start;
  uint64_t end;  // == start if the symbol states no size
  std::string_view name;
  int rank;  // lower is better
};

// Returns how good a name is for users; of the symbols at one address, the lowest rank is kept.
int rank_of(std::string_view name, int binding) {
  const size_t first_letter = name.find_first_not_of('_');
  const bool mangled = name.starts_with("_Z") || name.starts_with("_R");
  const int underscores =
      mangled || first_letter == std::string_view::npos ? 0 : static_cast<int>(first_letter);
  const int scope = binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  return underscores * 3 + scope;
}

bool in_code(Elf* elf, GElf_Word section) {
  GElf_Shdr header;
  Elf_Scn* const scn = elf == nullptr ? nullptr : elf_getscn(elf, section);
  return scn != nullptr && gelf_getshdr(scn, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0;
}

bool names_code(const GElf_Sym& symbol, Elf* elf, GElf_Word section) {
  switch (GELF_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return true;
    case STT_NOTYPE:  // assembly code without .type
      return in_code(elf, section);
    default:
      return false;
  }
}

bool names_data(const GElf_Sym& symbol, Elf*, GElf_Word) {
  return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT;
}

template <typename Wanted>
std::vector<Symbol> read_symbols(const ModuleFile& file, Wanted is_wanted) {
  std::vector<Symbol> symbols;
  const int count = dwfl_module_getsymtab(file.module());
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    Dwarf_Addr bias = 0;
    const char* const text =
        dwfl_module_getsym_info(file.module(), i, &symbol, &address, &section, &elf, &bias);
    if (text == nullptr || section == SHN_UNDEF || !is_wanted(symbol, elf, section)) continue;
    std::string_view name(text);
    name = name.substr(0, name.find('@'));  // "memcpy@@GLIBC_2.14"
    if (name.empty()) continue;
    symbols.push_back({address, address + symbol.st_size, name, rank_of(name, GELF_ST_BIND(symbol.st_info))});
  }
  return symbols;
}

}  // namespace

NamedRanges::NamedRanges(std::vector<NamedRange> ranges) : ranges_(std::move(ranges)) {}

const NamedRange* NamedRanges::find(uint64_t address) const {
  auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t a, const NamedRange& range) { return a < range.start; });
  if (at == ranges_.begin()) return nullptr;
  --at;
  return address < at->end ? &*at : nullptr;
}

std::vector<NamedRange> object_symbols(const ModuleFile& file) {
  std::vector<NamedRange> ranges;
  for (const Symbol& symbol : read_symbols(file, names_data))
    ranges.push_back({symbol.start, symbol.end, std::string(symbol.name)});
  return ranges;
}

NamedRanges function_symbols(const ModuleFile& file) {
  std::vector<Symbol> symbols = read_symbols(file, names_code);
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return std::tuple(a.start, a.rank, a.name.size(), a.name) <
           std::tuple(b.start, b.rank, b.name.size(), b.name);
  });
  std::vector<NamedRange> ranges;
  for (size_t i = 0; i < symbols.size();) {
    size_t next = i;
    uint64_t end = symbols[i].start;
    for (; next < symbols.size() && symbols[next].start == symbols[i].start; ++next) {
      end = std::max(end, symbols[next].end);
    }
    // A symbol without a size (assembly) extends to the next one.
    if (end == symbols[i].start) end = next < symbols.size() ? symbols[next].start : UINT64_MAX;
    ranges.push_back({symbols[i].start, end, std::string(symbols[i].name)});
    i = next;
  }
  return NamedRanges(std::move(ranges));
}

}  // namespace prof
