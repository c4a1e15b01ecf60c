#include "analysis/attribution/unit_index.h"

#include <dwarf.h>

#include <algorithm>

namespace prof {

UnitIndex::UnitIndex(Dwarf* dwarf, uint64_t lowest_code) {
  Dwarf_CU* unit = nullptr;
  uint8_t type = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(&die, next, &base, &low, &high)) > 0;) {
      if (low >= lowest_code && low < high) ranges_.push_back({low, high, dwarf_dieoffset(&die), 0});
    }
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.low < b.low; });
  uint64_t highest = 0;
  for (Range& range : ranges_) range.highest_so_far = highest = std::max(highest, range.high);
}

Dwarf_Off UnitIndex::find(uint64_t address) const {
  auto at = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                             [](uint64_t a, const Range& range) { return a < range.low; });
  // Ranges rarely overlap, so this nearly always ends at the first one.
  while (at != ranges_.begin() && std::prev(at)->highest_so_far > address) {
    --at;
    if (address < at->high) return at->unit;
  }
  return kNoUnit;
}

}  // namespace prof
