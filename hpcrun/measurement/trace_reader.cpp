// Decodes traces (docs/formats.md, "Trace"). The loop that decodes one record from one 8-byte load determines
// the speed of the analysis of long runs. All special cases leave that loop.

#include <algorithm>
#include <bit>
#include <cstring>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/read_varint.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

using hpcrun::kTraceDeltaBias;
using hpcrun::kTraceGap;

namespace {

constexpr uint64_t kContinue = 0x8080808080808080u;

// Joins the seven low bits of each byte, and ignores the eighth.
inline uint64_t join_sevens(uint64_t bytes) {
  bytes = (bytes & 0x007f007f007f007fu) | ((bytes & 0x7f007f007f007f00u) >> 1);
  bytes = (bytes & 0x00003fff00003fffu) | ((bytes & 0x3fff00003fff0000u) >> 2);
  return (bytes & 0x000000000fffffffu) | ((bytes & 0x0fffffff00000000u) >> 4);
}

}  // namespace

TraceReader MeasuredThread::trace() const {
  TraceReader reader;
  reader.file_ = file;
  reader.extents_ = trace_extents;
  reader.quantum_ns_ = quantum_ns;
  reader.node_count_ = static_cast<uint32_t>(nodes.size());
  return reader;
}

bool TraceReader::open_next_extent() {
  if (extents_ == nullptr) return false;
  if (next_extent_ != 0 && next_extent_ <= extents_->size()) {
    const TraceExtent& done = (*extents_)[next_extent_ - 1];
    release_pages({done.payload, done.bytes});
  }
  const uint64_t latest = UINT64_MAX / quantum_ns_;
  while (next_extent_ < extents_->size()) {
    const TraceExtent& extent = (*extents_)[next_extent_++];
    hpcrun::TraceStart start;
    std::memcpy(&start, extent.payload, sizeof start);
    if (start.time > latest) continue;
    gap_pending_ |= extent.follows_loss;
    time_ = std::max(time_, start.time);
    node_ = start.node;
    next_ = extent.payload + sizeof start;
    end_ = extent.payload + extent.bytes;
    return true;
  }
  next_ = end_ = nullptr;
  return false;
}

size_t TraceReader::read(std::span<TraceSample> out) {
  const uint64_t latest = UINT64_MAX / quantum_ns_;
  size_t count = 0;
  const auto emit = [&] {
    // Contexts lost to damage count for the root.
    out[count++] = {time_ * quantum_ns_, node_ < node_count_ ? node_ : 0};
  };
  while (count < out.size()) {
    if (next_ == end_ && !open_next_extent()) break;
    if (gap_pending_) {
      gap_pending_ = false;
      out[count++] = {time_ * quantum_ns_, kTraceGapNode};
      continue;
    }

    const uint8_t* at = next_;
    while (count < out.size() && end_ - at >= 8) {
      uint64_t word;
      std::memcpy(&word, at, sizeof word);
      const uint64_t stops = ~word & kContinue;  // the last byte of each number
      const uint64_t second = stops & (stops - 1);
      if (second == 0) break;
      const uint64_t delta = join_sevens(word & (stops ^ (stops - 1)));
      if (delta < kTraceDeltaBias) break;
      const uint64_t both = word & (second ^ (second - 1));
      time_ += delta - kTraceDeltaBias;
      node_ += unzigzag(join_sevens(both >> (std::countr_zero(stops) + 1)));
      if (time_ > latest) break;
      at += (std::countr_zero(second) + 1) / 8;
      emit();
    }
    next_ = at;
    if (count == out.size() || at == end_) continue;

    // A gap, a long record, the end of the extent, or damage, which also ends the extent.
    uint64_t delta = 0;
    uint64_t operand = 0;
    if (time_ > latest || !read_varint(at, end_, delta) || delta == 0 || !read_varint(at, end_, operand)) {
      time_ = std::min(time_, latest);
      next_ = end_;
      continue;
    }
    next_ = at;
    const bool gap = delta == kTraceGap;
    const uint64_t step = gap ? operand : delta - kTraceDeltaBias;
    if (step > latest - time_) {
      next_ = end_;
    } else if (time_ += step; gap) {
      out[count++] = {time_ * quantum_ns_, kTraceGapNode};
    } else {
      node_ += unzigzag(operand);
      emit();
    }
  }
  return count;
}

}  // namespace prof
