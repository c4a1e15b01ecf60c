#pragma once
// Names functions and variables without debug information, from symbols (.symtab, .dynsym, Fedora's
// compressed .gnu_debugdata), linkage stubs, and the function boundaries in .eh_frame_hdr.

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

// Sorted by start, without overlaps that affect lookups.
class NamedRanges {
 public:
  explicit NamedRanges(std::vector<NamedRange> ranges);
  const NamedRange* find(uint64_t address) const;

 private:
  std::vector<NamedRange> ranges_;
};

// Returns the functions in the symbol tables. If a function has several names, keeps the best one for users:
// fewest leading underscores, then global before weak before local, then shortest.
NamedRanges function_symbols(const ModuleFile& file);

// Returns the variables in the symbol tables, without thread-local ones, in any order.
std::vector<NamedRange> object_symbols(const ModuleFile& file);

// Returns linkage stubs, named "foo@plt".
NamedRanges linkage_stubs(Elf* elf);

// Returns the starts of all functions with call frame information, ascending. Reads them through the program
// headers, which even `strip --strip-section-headers` keeps.
std::vector<uint64_t> frame_starts(Elf* elf);

}  // namespace prof
