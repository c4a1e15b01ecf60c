#pragma once
// Where allocations that threads contend for should lie. Of each site whose objects are in a finding the
// possible placements are tried on what threads did to their bytes (hpcrun/model/placement.h).

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/contention/contended_data.h"
#include "hpcrun/model/placement.h"

namespace prof {

struct SiteLayout {
  uint32_t site = 0;              // DataObject::site
  std::vector<uint32_t> objects;  // of the finding
  uint64_t least_bytes = 0;       // of them; 0 and the largest number where one is not known
  uint64_t most_bytes = 0;
  uint64_t align = 1;             // that the program asks for, and that placements keep
  bool is_mapping = false;        // all begin pages: none came from an allocator
  hpcrun::Placement placement;    // kAsAllocated: none helps
  bool is_bound = false;          // one would, were it not for `align`
  uint64_t conflicts_before = 0;  // as they lay
  uint64_t conflicts_after = 0;   // with the placement; as they lay where there is none
};

// By the order of sites. Only what is on the heap.
std::vector<SiteLayout> lay_out_sites(const ContendedData& found, std::span<const DataObject> objects);

}  // namespace prof
