#include "viewer/trace/trace_index.h"

namespace prof::viewer {

std::vector<uint64_t> blocks_of_levels(uint64_t segments) {
  std::vector<uint64_t> levels;
  if (segments == 0) return levels;
  for (uint64_t blocks = (segments + kBlockSegments - 1) / kBlockSegments;;
       blocks = (blocks + kBlocksPerBlock - 1) / kBlocksPerBlock) {
    levels.push_back(blocks);
    if (blocks == 1) return levels;
  }
}

std::optional<Instant> instant_at(const MappedTraces& traces, size_t row, uint64_t time_ns) {
  if (traces.segments(row) == 0 || time_ns < traces.begin_ns(row) || time_ns >= traces.end_ns(row)) return {};
  const uint64_t segment = traces.segment_at(row, time_ns, 0, traces.segments(row));
  return Instant{traces.context(row, segment), traces.time(row, segment), traces.time(row, segment + 1)};
}

void TraceIndex::add_times(size_t row, uint64_t begin_ns, uint64_t end_ns, Times& times) const {
  for_each_time(row, begin_ns, end_ns, [&](uint32_t context, uint64_t ns) { times.add(context, ns); });
}

}  // namespace prof::viewer
