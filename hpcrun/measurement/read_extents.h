#pragma once
// Reads the header of a measurement file and the list of its extents. This is the first step of reading. Each
// extent is bounds-checked and, if sealed, verified. The next steps use checked offsets only.

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Collects warnings: single ones up to a screenful; the rest is counted.
class Warnings {
 public:
  explicit Warnings(std::vector<std::string>& out) : out_(out) {}
  void add(std::string line);
  void close();

 private:
  std::vector<std::string>& out_;
  size_t suppressed_ = 0;
};

// Loads a value at an offset. The bytes must have been checked to be there.
template <typename T>
T load_at(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

class MappedFile {
 public:
  explicit MappedFile(const StoredFile& file);  // throws MeasurementError
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const uint8_t> bytes() const { return bytes_; }
  uint32_t owner() const { return owner_; }

 private:
  std::span<const uint8_t> bytes_;
  uint32_t owner_ = 0;
};

// Lets the kernel drop pages of a mapped file from memory; they are read again when accessed.
void release_pages(std::span<const uint8_t> bytes);

struct Layout {  // sizes as the file states them
  uint32_t page_bytes = hpcrun::kPageBytes;
  uint32_t header_bytes = hpcrun::kPageBytes;
  uint32_t extent_header_bytes = sizeof(hpcrun::ExtentHeader);
  uint32_t node_bytes = sizeof(hpcrun::NodeRecord);
  uint32_t cell_bytes = sizeof(hpcrun::ValueCell);
  uint32_t record_header_bytes = sizeof(hpcrun::RecordHeader);
  uint64_t trace_quantum_ns = hpcrun::kTraceQuantumNs;
};

// Reads the header, and fills process, counters and stack reasons. Throws MeasurementError.
Layout read_header(std::span<const uint8_t> file, const std::string& name, ProcessMeasurement& out,
                   Warnings& warnings);

struct Extent {
  hpcrun::StreamKind kind{};
  uint32_t thread = 0;
  uint32_t sequence = 0;
  uint64_t first = 0;
  uint64_t offset = 0;               // in the file
  std::span<const uint8_t> payload;  // the published bytes; all bytes if their number is not known
  bool intact = true;                // false: sealed, but the checksum does not match
  bool follows_loss = false;         // extents of its stream before it are missing
};

// Returns the extents in file order, which is also the order within each stream.
std::vector<Extent> read_extents(std::span<const uint8_t> file, const Layout& layout, Warnings& warnings);

const char* stream_name(hpcrun::StreamKind kind);

}  // namespace prof
