#pragma once
// Test support: locates the parts of a measurement file without the reader under test.

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "hpcrun/measurement/format.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

struct RawExtent {
  hpcrun::StreamKind kind{};
  uint32_t thread = 0;
  uint64_t first = 0;
  size_t offset = 0;
  size_t bytes = 0;   // the whole extent
  size_t length = 0;  // the published payload
  bool sealed = false;
  size_t payload() const { return offset + sizeof(hpcrun::ExtentHeader); }
};

inline std::vector<uint8_t> file_contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
T get(const std::vector<uint8_t>& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

inline std::vector<RawExtent> raw_extents(const std::vector<uint8_t>& bytes) {
  using hpcrun::ExtentHeader;
  std::vector<RawExtent> extents;
  for (size_t at = get<hpcrun::FileHeader>(bytes, 0).header_bytes; at + hpcrun::kPageBytes <= bytes.size();) {
    if (get<uint32_t>(bytes, at) != hpcrun::kExtentMagic) break;
    RawExtent extent;
    extent.kind = get<hpcrun::StreamKind>(bytes, at + offsetof(ExtentHeader, kind));
    extent.thread = get<uint32_t>(bytes, at + offsetof(ExtentHeader, thread));
    extent.first = get<uint64_t>(bytes, at + offsetof(ExtentHeader, first));
    extent.offset = at;
    extent.bytes = get<uint32_t>(bytes, at + offsetof(ExtentHeader, pages)) * size_t{hpcrun::kPageBytes};
    extent.length = get<uint32_t>(bytes, at + offsetof(ExtentHeader, length));
    extent.sealed = get<uint32_t>(bytes, at + offsetof(ExtentHeader, sealed)) == hpcrun::kSealed;
    extents.push_back(extent);
    at += extent.bytes;
  }
  return extents;
}

// Returns the ends of the trace records in a payload, as offsets in the file. A record is two LEB128 numbers.
inline std::vector<size_t> trace_record_ends(const std::vector<uint8_t>& bytes, const RawExtent& extent) {
  std::vector<size_t> ends;
  unsigned numbers = 0;
  for (size_t at = extent.payload() + sizeof(hpcrun::TraceStart); at < extent.payload() + extent.length;
       ++at) {
    if ((bytes[at] & 0x80) == 0 && ++numbers % 2 == 0) ends.push_back(at + 1);
  }
  return ends;
}

}  // namespace prof::test
