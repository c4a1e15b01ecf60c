#pragma once
// Names of functions and variables without debug information: symbols (.symtab, .dynsym, the compressed
// .gnu_debugdata of Fedora), linkage stubs, and the function boundaries that .eh_frame_hdr lists.

#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/module_file.h"

namespace prof {

struct NamedRange {
  uint64_t start = 0;
  uint64_t end = 0;
  std::string name;  // not demangled
};

// Sorted by start, without overlaps that matter to lookups.
class NamedRanges {
 public:
  explicit NamedRanges(std::vector<NamedRange> ranges);
  const NamedRange* find(uint64_t address) const;

 private:
  std::vector<NamedRange> ranges_;
};

// Functions in the symbol tables. Of several names for one function it keeps the one for users: fewest
// leading underscores, then global before weak before local, then shortest.
NamedRanges function_symbols(const ModuleFile& file);

// Variables in the symbol tables, thread-local ones left out; in any order.
std::vector<NamedRange> object_symbols(const ModuleFile& file);

// Linkage stubs as "foo@plt".
NamedRanges linkage_stubs(Elf* elf);

// Starts of all functions with call frame information, ascending. Read through the program headers, which
// even `strip --strip-section-headers` leaves.
std::vector<uint64_t> frame_starts(Elf* elf);

}  // namespace prof
