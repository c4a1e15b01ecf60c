#pragma once
// Common part of streams whose records are intervals (format.h): times in quanta, and numbers as differences
// from the previous record. Async-signal-safe.

#include <cassert>
#include <concepts>
#include <initializer_list>
#include <new>

#include "hpcrun/cct/cct.h"
#include "hpcrun/cct/extent_stream.h"
#include "hpcrun/cct/varint.h"

namespace hpcrun {

// The same size as for traces: sealing one takes under 10 µs.
constexpr size_t kMaxIntervalExtent = 64 * 1024;
constexpr size_t kMaxVarintBytes = 10;
constexpr size_t kMaxIntervalBytes = kWaitNumbers * kMaxVarintBytes;
static_assert(kTaskNumbers <= kWaitNumbers && kAccessNumbers <= kWaitNumbers);
constexpr uint64_t quanta(uint64_t ns) {
  return ns / kTraceQuantumNs;
}
// A stream of intervals. The beginning of each is relative to the end of the previous one.
struct IntervalStream {
  MeasurementFile* file;
  ExtentStream stream;
  uint64_t end;  // of the last record, in quanta
  NodeId node;   // of the last record
  uint32_t period;
  bool sealed;

  // Makes room for a record. A new extent starts with the state before the record.
  [[nodiscard]] bool make_room(uint64_t begin) noexcept {
    if (sealed) return false;
    if (stream.has_room(kMaxIntervalBytes)) return true;
    MappedExtent full;
    if (!stream.advance(0, full)) return false;
    file->seal_and_unmap(full);
    if (full.header == nullptr) end = begin;
    new (stream.next()) TraceStart{end, node, period};
    stream.publish(sizeof(TraceStart));
    return true;
  }

  [[nodiscard]] uint64_t begin_delta(uint64_t begin) const noexcept {
    return zigzag(static_cast<int64_t>(begin - end)) + 1;
  }
  [[nodiscard]] uint64_t node_delta(NodeId to) const noexcept {
    return zigzag(static_cast<int64_t>(to) - static_cast<int64_t>(node));
  }

  void append(std::initializer_list<uint64_t> numbers, uint64_t new_end, NodeId new_node) noexcept {
    assert(numbers.size() <= kWaitNumbers && stream.has_room(kMaxIntervalBytes));  // make_room()
    char* const start = stream.next();
    char* at = start;
    for (const uint64_t number : numbers) at = put_varint(at, number);
    stream.publish(static_cast<size_t>(at - start));
    end = new_end;
    node = new_node;
  }

  void seal() noexcept {
    if (sealed) return;
    sealed = true;
    stream.close();
  }
};

// Creates a stream's state in the arena, or returns nullptr if there is no memory.
template <std::derived_from<IntervalStream> State>
State* make_interval_stream(MeasurementFile& file, Arena& arena, StreamKind kind, uint32_t thread) noexcept {
  void* memory = arena.allocate(sizeof(State));
  if (memory == nullptr) return nullptr;
  auto* state = new (memory) State{};
  state->file = &file;
  state->stream.attach(file, kind, thread, kMaxIntervalExtent);
  return state;
}

}  // namespace hpcrun
