// libFuzzer entry: arbitrary bytes as the traces of a database and as the index of its timeline. The input is
// trace.db after its size in 4 bytes, then timeline.cache. The header of the index is made valid for these
// traces, with the right checksum, so that the rest is read. An index built from the same traces must be
// exact.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "analysis/database/database.h"
#include "tests/fuzz/database_files.h"
#include "tests/fuzz/timeline_seed.h"
#include "viewer/trace/columns.h"
#include "viewer/trace/index_builder.h"
#include "viewer/trace/index_file.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr int kPixels = 40;
const std::atomic<bool> kNotCancelled{false};

Mapping mapped(const std::string& bytes) {
  const int file = memfd_create("index", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  Mapping mapping(file);
  close(file);
  return mapping;
}

std::string with_header_of(const MappedTraces& traces, std::string file) {
  if (file.size() < sizeof(IndexHeader)) file.resize(sizeof(IndexHeader));
  IndexHeader given{}, header = header_of(traces);
  std::memcpy(&given, file.data(), sizeof given);
  header.file_bytes = file.size();
  header.tables = given.tables;
  header.checksum = contents_checksum(mapped(file), 1, kNotCancelled);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

// Returns the time painted in the row, by its pixels.
uint64_t painted(const MappedTraces& traces, const TraceIndex& index, size_t row, const PixelScale& scale) {
  const std::vector<uint32_t> keys(traces.contexts(), 0);
  Columns columns;
  columns.fill(traces, &index, row, scale, keys, 1);
  uint64_t sum = 0;
  for (int x = 0; x < scale.pixels(); ++x)
    for (const Share& share : columns.pixel(x)) sum += share.ns;
  return sum;
}

uint64_t timed(const MappedTraces& traces, const TraceIndex& index, size_t row, uint64_t begin_ns,
               uint64_t end_ns) {
  Times times(traces.contexts());
  index.add_times(row, begin_ns, end_ns, times);
  uint64_t sum = times.idle;
  for (const uint64_t ns : times.by_context) sum += ns;
  return sum;
}

void check(const MappedTraces& traces, const TraceIndex& index, bool is_exact) {
  const uint64_t begin = traces.begin_ns(), end = traces.end_ns(), part = (end - begin) / 3;
  const auto rule = [&](uint64_t sum, uint64_t ns) {
    if (!is_exact || sum == ns) return;
    std::cerr << "broken rule: times of a row sum up to it\n";
    std::abort();
  };
  for (size_t row = 0; row < traces.rows(); ++row) {
    const uint64_t ns = traces.end_ns(row) - traces.begin_ns(row);
    for (const uint64_t time : {begin, begin + part, end}) instant_at(traces, row, time);
    rule(painted(traces, index, row, PixelScale(begin, end, kPixels)), ns);
    rule(timed(traces, index, row, 0, UINT64_MAX), ns);
    rule(timed(traces, index, row, 0, begin + part) + timed(traces, index, row, begin + part, UINT64_MAX),
         ns);
    painted(traces, index, row, PixelScale(begin + part, end - part, kPixels));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::TimelineSeed seed;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  seed.write_trace(std::string(test::take_part(input)));
  try {
    const Database database = read_database(seed.path());
    const auto traces = std::make_shared<const MappedTraces>(database);
    if (const auto index =
            open_index(traces, mapped(with_header_of(*traces, std::string(input))), 1, kNotCancelled))
      check(*traces, *index, false);
    BuildProgress progress;
    const auto index = build_index(traces, 1, progress);
    if (!index) std::abort();
    check(*traces, *index, true);
  } catch (const DatabaseError&) {
  }
  return 0;
}
