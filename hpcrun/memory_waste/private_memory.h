#pragma once
// Determines whether memory is private to the process. Other processes, files and devices may use memory that
// is shared, so accesses to it are never called wasted. Reads /proc/self/maps, rarely, and remembers the
// mappings found. Belongs to one thread. Zeroed memory is a valid object. Async-signal-safe.

#include <cstdint>

#include "hpcrun/guest/own_mappings.h"

namespace hpcrun {

class PrivateMemory {
 public:
  // False also if that cannot be determined at present.
  bool contains(uint64_t address, uint64_t now_ns) noexcept;

 private:
  static constexpr uint32_t kRanges = 16;
  static constexpr uint64_t kValidNs = 2'000'000'000;  // the program may map something else there
  static constexpr uint64_t kRestNs = 50'000'000;      // between two reads, which take 50 us or more

  struct Range {
    uint64_t low;
    uint64_t high;
    uint64_t until_ns;
    bool is_private;
  };

  const Range* find(uint64_t address, uint64_t now_ns) const noexcept;

  Range ranges_[kRanges];
  uint32_t next_;
  uint64_t next_read_ns_;
  MappingLines lines_;
};

}  // namespace hpcrun
