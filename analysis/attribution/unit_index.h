#pragma once
// Finds the compilation unit of a DWARF file that covers an address. Built from the units' own ranges,
// because many compilers write no .debug_aranges.

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace prof {

class UnitIndex {
 public:
  // Ranges that start below lowest_code belong to code that the linker removed.
  UnitIndex(Dwarf* dwarf, uint64_t lowest_code);

  // Returns the offset of the unit's DIE for dwarf_offdie(), or kNoUnit. `address`: as in the DWARF.
  static constexpr Dwarf_Off kNoUnit = UINT64_MAX;
  Dwarf_Off find(uint64_t address) const;

 private:
  struct Range {
    uint64_t low;
    uint64_t high;
    Dwarf_Off unit;
    uint64_t highest_so_far;  // of this range and all before it
  };
  std::vector<Range> ranges_;
};

}  // namespace prof
