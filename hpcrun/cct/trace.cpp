#include <algorithm>
#include <new>

#include "hpcrun/cct/cct.h"
#include "hpcrun/cct/extent_stream.h"
#include "hpcrun/cct/varint.h"

namespace hpcrun {
namespace {

// Sealing checksums an extent in the handler: 64 KiB take under 10 µs.
constexpr size_t kMaxTraceExtent = 64 * 1024;
// A longer pause (4.5 years) does not fit into a record of kMaxTraceRecordBytes, and starts a new extent.
constexpr uint64_t kLongestDelta = (uint64_t{1} << 49) - kTraceDeltaBias - 1;

}  // namespace

struct Trace::State {
  MeasurementFile* file;
  ExtentStream stream;
  uint64_t time;  // of the last record, in quanta
  NodeId node;    // of the last sample
  bool started;
  bool sealed;

  // Makes room for one record at time `to`. A new extent starts with the state before that record.
  bool make_room(uint64_t to) noexcept {
    if (sealed) return false;
    if (!started) {
      time = to;
      started = true;
    }
    const bool too_far = to - time > kLongestDelta;
    if (!too_far && stream.has_room(kMaxTraceRecordBytes)) return true;
    MappedExtent full;
    if (!stream.advance(0, full)) return false;
    file->seal_and_unmap(full);
    if (too_far) time = to;
    new (stream.next()) TraceStart{time, node, 0};
    stream.publish(sizeof(TraceStart));
    return true;
  }
};

bool Trace::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  void* memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return false;
  state_ = new (memory) State{};
  state_->file = &file;
  state_->stream.attach(file, StreamKind::Trace, thread, kMaxTraceExtent);
  return true;
}

// Stores differences of absolute times in quanta, so rounding errors do not add up.
bool Trace::append(uint64_t time_ns, NodeId node) noexcept {
  State& state = *state_;
  const uint64_t time = std::max(time_ns / kTraceQuantumNs, state.time);
  if (!state.make_room(time)) return false;
  char* const start = state.stream.next();
  char* at = put_varint(start, time - state.time + kTraceDeltaBias);
  at = put_varint(at, zigzag(static_cast<int64_t>(node) - static_cast<int64_t>(state.node)));
  state.stream.publish(static_cast<size_t>(at - start));
  state.time = time;
  state.node = node;
  return true;
}

bool Trace::append_gap(uint64_t time_ns) noexcept {
  State& state = *state_;
  const uint64_t time = std::max(time_ns / kTraceQuantumNs, state.time);
  if (!state.make_room(time)) return false;
  char* const start = state.stream.next();
  char* at = put_varint(start, kTraceGap);
  at = put_varint(at, time - state.time);
  state.stream.publish(static_cast<size_t>(at - start));
  state.time = time;
  return true;
}

void Trace::seal() noexcept {
  state_->sealed = true;
  state_->stream.close();
}

}  // namespace hpcrun
