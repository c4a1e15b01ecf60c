#pragma once
// Makes a TraceIndex: reads every record once, on a few threads, whose memory does not grow with the trace
// but by 24 bytes for every kBlockSegments records.

#include <atomic>
#include <cstdint>
#include <memory>

#include "viewer/trace/trace_index.h"

namespace prof::viewer {

// Shared with the one who waits, who may set is_cancelled at any time.
struct BuildProgress {
  std::atomic<uint64_t> segments_done{0};  // of MappedTraces::all_segments()
  std::atomic<bool> is_cancelled{false};
};

// Below this, building takes less than looking for a file: the index is kept in memory alone.
constexpr uint64_t kLeastSegmentsKept = 1'000'000;

// Written to the first of places_of_index() where that is possible, under another name until it is complete;
// else, and with fewer segments than `least_kept`, in memory. nullptr where it was cancelled. Throws
// DatabaseError where a trace is damaged, or where there is no room even in memory.
std::unique_ptr<const TraceIndex> build_index(std::shared_ptr<const MappedTraces> traces, int jobs,
                                              BuildProgress& progress,
                                              uint64_t least_kept = kLeastSegmentsKept);

}  // namespace prof::viewer
