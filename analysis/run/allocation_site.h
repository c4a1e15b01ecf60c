#pragma once
// Places in load modules, and allocation sites, in a form that stays valid beyond one run.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// A place in a load module, as measured.
struct ModuleAddress {
  std::string module;             // path of the file
  std::vector<uint8_t> build_id;  // empty if the file has none
  uint64_t offset = 0;            // address as in the ELF file, below 2^48

  bool operator==(const ModuleAddress&) const = default;
};

// The allocations of one calling context.
struct AllocationSite {
  std::vector<std::string> path;      // for display, the innermost call first
  std::vector<ModuleAddress> frames;  // the same for the runtime, its innermost 16 at most
  uint64_t least_bytes = 0;           // smallest and largest requested sizes
  uint64_t most_bytes = 0;

  bool operator==(const AllocationSite&) const = default;
};

}  // namespace prof
