#pragma once
// The cache lines of contended data, byte by byte.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

// The bytes of one cache line with each thread's accesses to them.
struct LinePicture {
  int64_t offset = 0;   // from the start of the object to the start of the line;
  uint64_t object = 0;  // for several allocations, of the first one on it (ContendedRecord::Side::object)
  struct Row {
    uint32_t profile = 0;
    std::string bytes;  // 64 letters: 'r', 'w', 'b' for both, '.' if no access was observed
  };
  std::vector<Row> rows;  // by profile
};

// By address.
std::vector<LinePicture> line_pictures(const ContendedRecord& record);

}  // namespace prof
