#include "hpcrun/contention/sampled_access.h"

#include <algorithm>

#include "hpcrun/model/access_shape.h"
#include "hpcrun/model/data_source.h"

namespace hpcrun {

namespace {

using Operation = DataSource::Operation;
using Origin = DataSource::Origin;

// Far above the periods in use, and below the limit of a stream's record.
constexpr uint64_t kMaxPeriod = uint64_t{1} << 40;
constexpr uint64_t kMaxCycles = UINT32_MAX;

// Derives the source from what the event counts. Most kernels fill in the source of records for latency
// events and IBS only.
DataSource source_of(const MemoryRecord& record, MemoryEvent event) noexcept {
  DataSource source = decode_data_source(record.data_source);
  if (event == MemoryEvent::Operations) return source;
  source.operation = event == MemoryEvent::Stores ? Operation::Store : Operation::Load;
  const bool is_modified = event == MemoryEvent::ModifiedLoads || event == MemoryEvent::RemoteModifiedLoads;
  if (is_modified || event == MemoryEvent::ForwardedLoads)
    source.reports_snoops = source.came_from_peer = true;
  source.was_modified |= is_modified;
  source.is_remote |= event == MemoryEvent::RemoteModifiedLoads;
  return source;
}

uint32_t bits_of(const DataSource& source) noexcept {
  if (source.operation == Operation::Store) return 0;
  const bool is_shared = source.origin == Origin::SharedCache || source.origin == Origin::RemoteCache;
  uint32_t bits = 0;
  if (source.reports_snoops) bits |= kLoadReportsSnoops;
  if (source.is_transfer()) bits |= kLoadFromPeer;
  if (source.was_modified) bits |= kLoadModified;
  if (source.is_remote) bits |= kLoadRemote;
  if (is_shared && !source.missed) bits |= kLoadFromSharedCache;
  return bits;
}

bool decode_at(uint64_t address, const MemoryReader& code, Instruction& out) noexcept {
  uint8_t bytes[kMaxInstructionBytes];
  const size_t count = code.read(code.context, address, bytes, sizeof bytes);
  return count > 0 && decode(bytes, count, address, out);
}

}  // namespace

bool decode_access(const MemoryRecord& record, MemoryEvent event, const MemoryReader& code,
                   SampledAccess& out) noexcept {
  const DataSource source = source_of(record, event);
  const bool is_access = source.operation == Operation::Load || source.operation == Operation::Store;
  if (!is_access || !record.is_user || record.address == 0) return false;

  const AccessKind kind = source.operation == Operation::Store ? AccessKind::Write : AccessKind::Read;
  out.access = {record.address, record.ip, 1, kind, source.is_locked, 0};
  out.time_ns = record.time_ns;
  out.hardware = {std::clamp<uint64_t>(record.period, 1, kMaxPeriod), std::min(record.weight, kMaxCycles),
                  bits_of(source)};
  out.is_exact = false;
  Instruction instruction;
  if (!record.is_exact || !decode_at(record.ip, code, instruction)) return true;
  const std::optional<AccessShape> shape = shape_of(instruction, source.operation);
  if (!shape) return true;
  out.access.bytes = shape->bytes;
  out.access.kind = shape->kind;
  out.access.is_locked |= instruction.is_locked;
  out.is_exact = true;
  return true;
}

}  // namespace hpcrun
