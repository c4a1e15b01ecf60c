#pragma once
// The file that keeps a TraceIndex between starts: `timeline.cache` next to trace.db, or in the user's cache
// folder if that folder is not writable. All numbers are little-endian u64 unless Block says otherwise.
//
//   header   IndexHeader, 128 bytes
//   entries  of all blocks, in any order (trace_index.h)
//   tables   for each row, level 0 first, its Blocks; then for each row where its levels begin
//
// A file is used only if its header matches these traces, the checksum of everything after the header is
// correct, and its tables lie within it. Otherwise, such as with another version, another database or a
// single flipped bit, it is ignored and built again.

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
  // Its source: sizes and modification times of trace.db and meta.db, and where the traces are.
  uint64_t trace_bytes, trace_changed_ns, meta_bytes, meta_changed_ns, fingerprint, contexts, rows;
  // The file itself.
  uint64_t file_bytes, tables,
      checksum;  // tables: offset of the table of rows; checksum: contents_checksum()
  uint64_t reserved[4];

  bool operator==(const IndexHeader&) const = default;
};
static_assert(sizeof(IndexHeader) == 128);

// Returns the header for these traces, with 0 for the file's own numbers.
IndexHeader header_of(const MappedTraces& traces);

// Returns where such a file may be, in order of preference.
std::vector<std::filesystem::path> places_of_index(const MappedTraces& traces);

// Returns the checksum of everything after the header, computed on `jobs` threads; of a part if it was
// cancelled.
uint64_t contents_checksum(const Mapping& file, int jobs, const std::atomic<bool>& is_cancelled);

// Returns nullptr if there is no valid file, or if it was cancelled. Reads the whole file, so not for the
// window's thread.
std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                             const std::atomic<bool>& is_cancelled);
std::unique_ptr<const TraceIndex> open_index(std::shared_ptr<const MappedTraces> traces, Mapping file,
                                             int jobs, const std::atomic<bool>& is_cancelled);

}  // namespace prof::viewer
