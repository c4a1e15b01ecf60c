#pragma once
// Places in load modules, and the calling contexts that allocate, as they are known beyond one run.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// A place in a load module, as the measurement has it.
struct ModuleAddress {
  std::string module;             // path of the file
  std::vector<uint8_t> build_id;  // empty: the file has none
  uint64_t offset = 0;            // as the ELF file states addresses, below 2^48

  bool operator==(const ModuleAddress&) const = default;
};

// Allocations of one calling context.
struct AllocationSite {
  std::vector<std::string> path;      // for people, the innermost call first
  std::vector<ModuleAddress> frames;  // the same for the runtime, its innermost 16 at most
  uint64_t least_bytes = 0;           // sizes that are asked for, inclusive
  uint64_t most_bytes = 0;

  bool operator==(const AllocationSite&) const = default;
};

}  // namespace prof
