#pragma once
// First step of reading a measurement file: its header and the list of its extents, each bounds-checked and,
// where sealed, verified. Nothing behind this header looks at unchecked offsets.

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// At most a screenful of single warnings; the rest is counted.
class Warnings {
 public:
  explicit Warnings(std::vector<std::string>& out) : out_(out) {}
  void add(std::string line);
  void close();

 private:
  std::vector<std::string>& out_;
  size_t suppressed_ = 0;
};

// A number at an offset of bytes that were checked to be there.
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

// Lets the kernel drop pages of a mapped file from memory; they come back when touched.
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

// Fills process, counters and stack reasons. Throws MeasurementError.
Layout read_header(std::span<const uint8_t> file, const std::string& name, ProcessMeasurement& out,
                   Warnings& warnings);

struct Extent {
  hpcrun::StreamKind kind{};
  uint32_t thread = 0;
  uint32_t sequence = 0;
  uint64_t first = 0;
  uint64_t offset = 0;               // in the file
  std::span<const uint8_t> payload;  // what was published; all there is room for where that is not known
  bool intact = true;                // false: sealed, and the checksum does not hold
  bool follows_loss = false;         // extents of its stream are missing before it
};

// In file order, which is each stream's order.
std::vector<Extent> read_extents(std::span<const uint8_t> file, const Layout& layout, Warnings& warnings);

const char* stream_name(hpcrun::StreamKind kind);

}  // namespace prof
