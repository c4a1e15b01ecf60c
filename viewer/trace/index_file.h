#pragma once
// The file that keeps a TraceIndex between starts: `timeline.cache` beside trace.db, or, where that folder
// cannot be written to, in the user's folder for caches. All numbers are little-endian u64 unless Block says
// otherwise.
//
//   header   IndexHeader, 128 bytes
//   entries  of all blocks, in any order (trace_index.h)
//   tables   for each row, level 0 first, its Blocks; behind them for each row where its levels begin
//
// A file is taken only where its header is that of these very traces, the checksum of all that is behind the
// header is right, and its tables lie in it; a file of another version, of another database, or damaged in
// any bit, is as good as none, and is built again.

#include <atomic>
#include <filesystem>
#include <memory>

#include "viewer/trace/trace_index.h"

namespace prof::viewer {

constexpr const char* kIndexFile = "timeline.cache";
constexpr uint64_t kIndexMagic = 0x454e494c454d4954;  // "TIMELINE"
constexpr uint64_t kIndexVersion = 3;

struct IndexHeader {
  uint64_t magic, version;
  // Of what it was made: sizes and times of last change of trace.db and meta.db, and where the traces are.
  uint64_t trace_bytes, trace_changed_ns, meta_bytes, meta_changed_ns, fingerprint, contexts, rows;
  // Of itself.
  uint64_t file_bytes, tables,
      checksum;  // tables: offset of the table of rows; checksum: contents_checksum()
  uint64_t reserved[4];

  bool operator==(const IndexHeader&) const = default;
};
static_assert(sizeof(IndexHeader) == 128);

// What the header says of these traces, the file's own numbers 0.
IndexHeader header_of(const MappedTraces& traces);

// Where such a file may be, the first choice first.
std::vector<std::filesystem::path> places_of_index(const MappedTraces& traces);

// Of all that is behind the header, read on `jobs` threads; of a part of it where it was cancelled.
uint64_t contents_checksum(const Mapping& file, int jobs, const std::atomic<bool>& is_cancelled);

// nullptr where there is none that can be trusted, or it was cancelled. Reads the whole file: not for the
// window's thread.
std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                             const std::atomic<bool>& is_cancelled);
std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, Mapping file,
                                             int jobs, const std::atomic<bool>& is_cancelled);

}  // namespace prof::viewer
