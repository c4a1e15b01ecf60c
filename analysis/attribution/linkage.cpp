// Linkage stubs and the table of function starts: what a fully stripped file still has about its code.

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "analysis/attribution/symbols.h"

namespace prof {
namespace {

template <typename T>
std::optional<T> load(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// ---- stubs: PLT entries jump through a slot of the global offset table, which a relocation fills ----

struct Relocated {
  std::unordered_map<uint64_t, std::string> by_slot;  // function name by the slot's address
  std::vector<std::string> plt_order;                 // in the order of .rela.plt
};

Relocated read_relocations(Elf* elf) {
  Relocated out;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return out;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    GElf_Shdr symbols_header;
    if (gelf_getshdr(scn, &header) == nullptr || header.sh_type != SHT_RELA || header.sh_entsize == 0)
      continue;
    Elf_Scn* const symbols = elf_getscn(elf, header.sh_link);
    if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) continue;
    Elf_Data* const data = elf_getdata(scn, nullptr);
    Elf_Data* const symbol_data = elf_getdata(symbols, nullptr);
    const char* const section = elf_strptr(elf, names, header.sh_name);
    const bool of_plt = section != nullptr && std::string_view(section) == ".rela.plt";
    for (int i = 0; data != nullptr && i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
      GElf_Rela rela;
      GElf_Sym symbol;
      if (gelf_getrela(data, i, &rela) == nullptr) break;
      const char* name = nullptr;
      if (symbol_data != nullptr && GELF_R_SYM(rela.r_info) != 0 &&
          gelf_getsym(symbol_data, static_cast<int>(GELF_R_SYM(rela.r_info)), &symbol) != nullptr) {
        name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
      }
      const std::string text = name == nullptr ? "" : name;
      if (of_plt) out.plt_order.push_back(text);
      if (!text.empty()) out.by_slot.emplace(rela.r_offset, text);
    }
  }
  return out;
}

// Returns the slot that a stub jumps through: jmp *disp32(%rip), after an endbr64 or a bnd prefix.
std::optional<uint64_t> slot_of(std::span<const uint8_t> stub, uint64_t address) {
  constexpr size_t kJumpBytes = 6;
  for (size_t i = 0; i + kJumpBytes <= stub.size(); ++i) {
    if (stub[i] != 0xff || stub[i + 1] != 0x25) continue;
    const auto displacement = load<int32_t>(stub, i + 2);
    return address + i + kJumpBytes + static_cast<uint64_t>(static_cast<int64_t>(*displacement));
  }
  return std::nullopt;
}

void add_stubs(std::span<const uint8_t> code, const GElf_Shdr& header, bool lazy_plt,
               const Relocated& relocated, std::vector<NamedRange>& out) {
  // Some linkers state no entry size for .plt.got; its entries have the size of an aligned jump.
  const size_t size = header.sh_entsize >= 8 ? header.sh_entsize : 8;
  for (size_t offset = 0; offset + size <= code.size(); offset += size) {
    const uint64_t address = header.sh_addr + offset;
    std::string name;
    const auto slot = slot_of(code.subspan(offset, size), address);
    const auto found = slot ? relocated.by_slot.find(*slot) : relocated.by_slot.end();
    if (found != relocated.by_slot.end()) {
      name = found->second;
    } else if (lazy_plt && offset >= size && offset / size - 1 < relocated.plt_order.size()) {
      // With .plt.sec, the entries of .plt only push their number, in the order of .rela.plt.
      name = relocated.plt_order[offset / size - 1];
    }
    out.push_back({address, address + size, name.empty() ? "@plt" : name + "@plt"});
  }
}

// ---- .eh_frame_hdr ----

constexpr uint8_t kTableVersion = 1;
constexpr uint8_t kUdata4 = 0x03;
constexpr uint8_t kDatarelSdata4 = 0x3b;  // the only encoding of the table that linkers write
constexpr size_t kEntryBytes = 8;

size_t encoded_pointer_bytes(uint8_t encoding) {
  switch (encoding & 0x0f) {
    case 0x02:
    case 0x0a:
      return 2;
    case 0x03:
    case 0x0b:
      return 4;
    default:
      return 8;
  }
}

std::vector<uint64_t> read_frame_table(std::span<const uint8_t> table, uint64_t address) {
  std::vector<uint64_t> starts;
  if (table.size() < 4 || table[0] != kTableVersion || table[2] != kUdata4 || table[3] != kDatarelSdata4)
    return {};
  const size_t count_at = 4 + encoded_pointer_bytes(table[1]);
  const auto count = load<uint32_t>(table, count_at);
  if (!count || *count > table.size() / kEntryBytes) return {};
  for (size_t i = 0; i < *count; ++i) {
    const auto start = load<int32_t>(table, count_at + 4 + i * kEntryBytes);
    if (!start) break;
    starts.push_back(address + static_cast<uint64_t>(static_cast<int64_t>(*start)));
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

}  // namespace

NamedRanges linkage_stubs(Elf* elf) {
  std::vector<NamedRange> stubs;
  const Relocated relocated = read_relocations(elf);
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return NamedRanges({});
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) == nullptr || (header.sh_flags & SHF_EXECINSTR) == 0) continue;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || !std::string_view(name).starts_with(".plt")) continue;
    const Elf_Data* const data = elf_getdata(scn, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    add_stubs({static_cast<const uint8_t*>(data->d_buf), data->d_size}, header,
              std::string_view(name) == ".plt", relocated, stubs);
  }
  std::sort(stubs.begin(), stubs.end(),
            [](const NamedRange& a, const NamedRange& b) { return a.start < b.start; });
  return NamedRanges(std::move(stubs));
}

std::vector<uint64_t> frame_starts(Elf* elf) {
  size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_GNU_EH_FRAME)
      continue;
    const Elf_Data* const data =
        elf_getdata_rawchunk(elf, static_cast<int64_t>(header.p_offset), header.p_filesz, ELF_T_BYTE);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return read_frame_table({static_cast<const uint8_t*>(data->d_buf), data->d_size}, header.p_vaddr);
  }
  return {};
}

}  // namespace prof
