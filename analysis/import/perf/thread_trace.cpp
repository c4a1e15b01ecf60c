#include "analysis/import/perf/thread_trace.h"

#include <algorithm>

namespace prof::perf {

// A clock's sample stands for its period before it, any other sample for the time since the previous one.
void ThreadTrace::add(uint64_t time_ns, uint64_t period, bool of_clock, uint32_t node) {
  const uint64_t last = pieces_.empty() ? 0 : pieces_.back().end;
  if (time_ns < last) return;
  uint64_t start = pieces_.empty() ? time_ns : last;
  if (of_clock) {
    start = time_ns - std::min(time_ns, period);
    // Samples are never exactly on time.
    if (start < last || start - last < period / 2) start = std::max(last, pieces_.empty() ? start : last);
  }
  pieces_.push_back({std::min(std::max(start, last), time_ns), time_ns, node});
}

std::vector<TraceRecord> ThreadTrace::take(uint64_t to_epoch_ns, const std::vector<uint32_t>& contexts) {
  std::vector<TraceRecord> records;
  uint64_t end = 0;
  for (const Piece& piece : pieces_) {
    if (!records.empty() && piece.start > end) records.push_back({end + to_epoch_ns, kNone});
    records.push_back({piece.start + to_epoch_ns, contexts[piece.node]});
    end = piece.end;
  }
  if (!records.empty()) records.push_back({end + to_epoch_ns, kNone});
  pieces_ = {};
  return records;
}

}  // namespace prof::perf
