#pragma once
// Which compilation unit of a DWARF file covers an address. Built from the units' own ranges, as many
// compilers write no .debug_aranges.

#include <elfutils/libdw.h>

#include <cstdint>
#include <vector>

namespace prof {

class UnitIndex {
 public:
  // Ranges that begin below lowest_code belong to code that the linker dropped.
  UnitIndex(Dwarf* dwarf, uint64_t lowest_code);

  // Offset of the unit's DIE for dwarf_offdie(), or kNoUnit. `address` as the DWARF states it.
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
