#pragma once
// The cache lines of contended data, byte by byte.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/contended_record.h"

namespace prof {

// The bytes of one cache line and what each thread does to them.
struct LinePicture {
  int64_t offset = 0;   // of the line's begin from the object's,
  uint64_t object = 0;  // of several allocations from that of the first on it (ContendedRecord::Side::object)
  struct Row {
    uint32_t profile = 0;
    std::string bytes;  // 64 letters: 'r', 'w', 'b' for both, '.' for nothing that was seen
  };
  std::vector<Row> rows;  // by profile
};

// By address.
std::vector<LinePicture> line_pictures(const ContendedRecord& record);

}  // namespace prof
