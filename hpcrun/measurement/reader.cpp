#include "hpcrun/measurement/reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hpcrun/measurement/checksum.h"
#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/read_records.h"
#include "hpcrun/measurement/read_threads.h"

namespace prof {
namespace {

// Limits the number of pages in memory at a time.
constexpr size_t kCheckedAtOnce = 4u << 20;

void require_checksum(std::span<const uint8_t> bytes, const StoredFile& stored) {
  uint32_t sum = 0;
  for (size_t at = 0; at < bytes.size(); at += kCheckedAtOnce) {
    const std::span<const uint8_t> part = bytes.subspan(at, std::min(kCheckedAtOnce, bytes.size() - at));
    sum = hpcrun::crc32c(sum, part.data(), part.size());
    release_pages(part);
  }
  if (sum != stored.checksum)
    throw MeasurementError(
        MeasurementError::Kind::DamagedMember,
        stored.path.string() + ": damaged: its bytes in the container differ from those added");
}

}  // namespace

ProcessMeasurement read_measurement(const StoredFile& stored) {
  hpcrun::detect_crc32c();
  const auto mapped = std::make_shared<const MappedFile>(stored);
  const std::span<const uint8_t> file = mapped->bytes();
  if (stored.is_member()) require_checksum(file, stored);

  ProcessMeasurement out;
  out.file = stored.path;
  out.file_bytes = file.size();
  out.owner = mapped->owner();
  Warnings warnings(out.warnings);
  const Layout layout = read_header(file, stored.path.string(), out, warnings);
  const uint64_t final_bytes = out.counter(hpcrun::Counter::FileBytes);
  if (out.process.end_monotonic_ns != 0 && file.size() < final_bytes) {
    warnings.add("the file is truncated: " + std::to_string(file.size()) + " of " +
                 std::to_string(final_bytes) + " bytes are left");
  }

  const std::vector<Extent> extents = read_extents(file, layout, warnings);
  std::map<uint32_t, MeasuredThread> threads;
  read_records(extents, layout, out, threads);
  read_threads(extents, layout, file.size(), threads, warnings);
  for (auto& [index, thread] : threads) {
    thread.file = mapped;
    out.threads.push_back(std::move(thread));
  }
  warnings.close();
  return out;
}

ProcessMeasurement read_measurement(const std::filesystem::path& path) {
  return read_measurement(StoredFile(path));
}

ProcessMeasurement read_measurement_header(const std::filesystem::path& path) {
  hpcrun::detect_crc32c();
  const MappedFile mapped(path);
  ProcessMeasurement out;
  out.file = path;
  out.file_bytes = mapped.bytes().size();
  out.owner = mapped.owner();
  Warnings warnings(out.warnings);
  read_header(mapped.bytes(), path.string(), out, warnings);
  return out;
}

}  // namespace prof
