#pragma once
// Chooses where contended allocations should lie. For each site with objects in a finding, tries the possible
// placements on the accesses of threads to their bytes (hpcrun/model/placement.h).

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/contention/contended_data.h"
#include "hpcrun/model/placement.h"

namespace prof {

struct SiteLayout {
  uint32_t site = 0;              // DataObject::site
  std::vector<uint32_t> objects;  // of the finding
  uint64_t least_bytes = 0;       // of the objects; if one is unknown, these are 0 and the maximum
  uint64_t most_bytes = 0;
  uint64_t align = 1;             // requested by the program; placements keep it
  bool is_mapping = false;        // all start at page boundaries, so none came from an allocator
  hpcrun::Placement placement;    // kAsAllocated if none helps
  bool is_bound = false;          // a placement would help, but `align` does not allow it
  uint64_t conflicts_before = 0;  // with the original layout
  uint64_t conflicts_after = 0;   // with the placement; with the original layout if there is none
};

// Sorted by site. Only objects on the heap.
std::vector<SiteLayout> lay_out_sites(const ContendedData& found, std::span<const DataObject> objects);

}  // namespace prof
