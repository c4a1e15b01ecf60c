#pragma once
// Builds a TraceIndex. Reads every record once, on a few threads. Memory grows by 24 bytes per kBlockSegments
// records.

#include <atomic>
#include <cstdint>
#include <memory>

#include "viewer/trace/trace_index.h"

namespace prof::viewer {

// Shared with the thread that waits, which may set is_cancelled at any time.
struct BuildProgress {
  std::atomic<uint64_t> segments_done{0};  // out of MappedTraces::all_segments()
  std::atomic<bool> is_cancelled{false};
};

// With fewer segments, building is faster than searching a file, so the index is kept in memory only.
constexpr uint64_t kMinSegmentsKept = 1'000'000;

// Writes the index to the first of places_of_index() that is writable, under a temporary name until it is
// complete. If none is, or with fewer segments than `least_kept`, keeps it in memory. Returns nullptr if it
// was cancelled. Throws DatabaseError if a trace is damaged, or if there is no room even in memory.
std::unique_ptr<const TraceIndex> build_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                              BuildProgress& progress,
                                              uint64_t least_kept = kMinSegmentsKept);

}  // namespace prof::viewer
