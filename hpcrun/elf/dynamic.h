#pragma once
// Reads the dynamic section of a module, and the symbols that it leads to. Async-signal-safe if the source
// is.

#include <elf.h>

#include "hpcrun/elf/source.h"

namespace hpcrun {

// The values of a dynamic section, as they are there: in a mapped module, the loader (glibc's, not the kernel
// for the vDSO) has added the load bias to addresses. 0: not there.
struct DynamicTables {
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t string_bytes = 0;
  uint64_t hash = 0;
  uint64_t gnu_hash = 0;
  uint64_t plt_relocations = 0;
  uint64_t plt_relocation_bytes = 0;
  uint64_t relocations = 0;
  uint64_t relocation_bytes = 0;
};

// Reads the dynamic section in [start, start + bytes) up to its end mark.
template <ElfSource Source>
[[nodiscard]] DynamicTables read_dynamic(const Source& source, uint64_t start, uint64_t bytes) noexcept {
  DynamicTables tables;
  any_item<Elf64_Dyn>(source, start, bytes / sizeof(Elf64_Dyn), [&](const Elf64_Dyn& entry) {
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL:
        return true;
      case DT_SYMTAB:
        tables.symbols = value;
        break;
      case DT_STRTAB:
        tables.strings = value;
        break;
      case DT_STRSZ:
        tables.string_bytes = value;
        break;
      case DT_HASH:
        tables.hash = value;
        break;
      case DT_GNU_HASH:
        tables.gnu_hash = value;
        break;
      case DT_JMPREL:
        tables.plt_relocations = value;
        break;
      case DT_PLTRELSZ:
        tables.plt_relocation_bytes = value;
        break;
      case DT_RELA:
        tables.relocations = value;
        break;
      case DT_RELASZ:
        tables.relocation_bytes = value;
        break;
      default:
        break;
    }
    return false;
  });
  return tables;
}

// Returns the number of dynamic symbols, for which the section has no entry of its own: DT_HASH has one chain
// link for each, and of DT_GNU_HASH the last chain leads to the last. `hash` and `gnu_hash` are offsets of
// the source, or 0. Returns 0 if neither can be read.
template <ElfSource Source>
[[nodiscard]] uint32_t count_symbols(const Source& source, uint64_t hash, uint64_t gnu_hash) noexcept {
  struct {
    uint32_t buckets;
    uint32_t chains;
  } head;
  if (hash != 0) return source.read(hash, &head, sizeof head) ? head.chains : 0;
  struct {
    uint32_t buckets;
    uint32_t first;  // symbols before it are not in the table
    uint32_t filter_words;
    uint32_t shift;
  } gnu;
  if (gnu_hash == 0 || !source.read(gnu_hash, &gnu, sizeof gnu)) return 0;
  const uint64_t buckets = gnu_hash + sizeof gnu + uint64_t{gnu.filter_words} * sizeof(Elf64_Addr);
  uint32_t last = 0;
  any_item<uint32_t>(source, buckets, gnu.buckets, [&](uint32_t symbol) {
    if (symbol > last) last = symbol;
    return false;
  });
  if (last < gnu.first) return gnu.first;
  const uint64_t chains = buckets + uint64_t{gnu.buckets} * sizeof(uint32_t);
  // The last link of a chain has its low bit set.
  for (uint32_t link; read_item(source, chains, last - gnu.first, link); ++last)
    if (link & 1) return last + 1;
  return 0;
}

}  // namespace hpcrun
