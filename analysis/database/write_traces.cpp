// trace.db: for each profile, its context over time. Copied from the sources one block at a time, 12 bytes
// per record, to offsets that are known in advance.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/database/database.h"
#include "analysis/database/idle_records.h"
#include "analysis/database/output.h"
#include "analysis/database/parallel_for.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

constexpr size_t kBlockBytes = 1 << 20;

// Describes one trace.
struct Extent {
  uint64_t records = 0;
  uint64_t begin = 0;
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
};

[[noreturn]] void fail(size_t profile, const char* why) {
  throw DatabaseError(DatabaseError::Kind::InvalidModel,
                      fmt::format("cannot write the database: the trace of profile {} {}; this is a defect "
                                  "of the program that writes it",
                                  profile, why));
}

void put(const Database& database, size_t profile, const TraceRecord& record, Extent& extent,
         OutputBuffer& out) {
  const bool is_idle = record.context == kNone;
  if (record.time_ns < extent.last_ns || (!is_idle && record.context >= database.contexts.size()))
    fail(profile, "is not sorted by time or has an unknown context");
  extent.first_ns = std::min(extent.first_ns, record.time_ns);
  extent.last_ns = record.time_ns;
  const uint32_t id = is_idle ? kGlobalContext : context_id(record.context);
  char* const bytes = out.grow(kTraceElementBytes);
  std::memcpy(bytes, &record.time_ns, sizeof record.time_ns);
  std::memcpy(bytes + sizeof record.time_ns, &id, sizeof id);
}

// Writes at most as many records as were counted: the process that wrote the trace may still run.
void write_trace(const Database& database, size_t profile, OutputFile& file, Extent& extent, Stage& stage) {
  TraceSource trace = database.traces[profile];
  IdleRecords idle;
  OutputBuffer out;
  std::vector<TraceRecord> block;
  uint64_t written = 0, at = extent.begin;
  while (written < extent.records && trace(block)) {
    idle.leave_one(block);
    if (block.size() > extent.records - written) block.resize(extent.records - written);
    for (const TraceRecord& record : block) put(database, profile, record, extent, out);
    written += block.size();
    stage.add(block.size());
    if (out.size() < kBlockBytes && written < extent.records) continue;
    file.write_at(at, out.view());
    at += out.size();
    out.clear();
  }
  if (written < extent.records) fail(profile, "was truncated while it was read again");
}

// Returns the range of profiles whose traces a process writes.
std::pair<size_t, size_t> traces_of(const Database& database, int rank) {
  return database.values.compute ? database.values.profiles_of(rank)
                                 : std::pair(size_t{0}, database.traces.size());
}

}  // namespace

bool write_traces(const Database& database, const std::filesystem::path& directory, const Writers& writers) {
  AnalysisWorkers& workers = writers.workers;
  const std::vector<TraceSource>& traces = database.traces;
  if (std::ranges::none_of(traces, [](const TraceSource& trace) { return bool{trace}; })) return false;
  std::vector<Extent> extents(traces.size());
  parallel_for(traces.size(), writers.jobs, [&](size_t i) {
    if (traces[i])
      extents[i].records =
          database.trace_records.empty() ? count_records(traces[i]) : database.trace_records[i];
  });

  OutputFile file(directory, kTrace, header_bytes(kTrace));
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!traces[i]) continue;
    file.align(8);
    extents[i].begin = file.leave(extents[i].records * kTraceElementBytes);
  }
  const auto [own_begin, own_end] = traces_of(database, workers.rank());
  workers.collect(
      std::string(kTrace.name),
      [&, begin = own_begin, end = own_end] {
        size_t records = 0;
        for (size_t i = begin; i < end; ++i) records += extents[i].records;
        Stage stage(writers.progress, "writing traces", records);
        parallel_for(end - begin, writers.jobs, [&](size_t i) {
          Extent& extent = extents[begin + i];
          if (extent.records != 0) write_trace(database, begin + i, file, extent, stage);
        });
        if (!workers.is_first()) file.close();
      },
      [&, begin = own_begin, end = own_end](Packer& out) {
        for (size_t i = begin; i < end; ++i) out(extents[i].first_ns, extents[i].last_ns);
      },
      [&](Unpacker& in, int rank) {
        const auto [begin, end] = traces_of(database, rank);
        for (size_t i = begin; i < end; ++i) in(extents[i].first_ns, extents[i].last_ns);
      });
  if (!workers.is_first()) return true;

  OutputBuffer headers;
  uint32_t count = 0;
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!traces[i]) continue;
    headers.put(static_cast<uint32_t>(i + 1));  // profile 0 is the summary
    headers.align(8);
    headers.put(extents[i].begin);
    headers.put(extents[i].begin + extents[i].records * kTraceElementBytes);
    first_ns = std::min(first_ns, extents[i].first_ns);
    last_ns = std::max(last_ns, extents[i].last_ns);
    ++count;
  }
  file.align(8);
  const uint64_t begin = file.offset();
  OutputBuffer header;
  header.put<uint64_t>(begin + 32);
  header.put(count);
  header.put<uint8_t>(kTraceHeaderBytes);
  header.align(8);
  header.put(std::min(first_ns, last_ns));  // both 0 if all traces are empty
  header.put(last_ns);
  file.write(header.view());
  file.write(headers.view());
  file.end_section(0, begin);
  file.finish();
  return true;
}

}  // namespace prof
