#include "analysis/pipeline/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/contention/advice.h"
#include "analysis/contention/change_words.h"
#include "analysis/pipeline/known_data.h"
#include "analysis/pipeline/measured_accesses.h"
#include "analysis/pipeline/repairs.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

using hpcrun::Sharing;

constexpr size_t kMaxSides = 64;  // of a finding
// At some hundred cycles per transfer, a lower rate costs a thread less than 0.1 % of its time. TMI found
// 100,000 in programs that are worth a repair.
constexpr double kMinTransfersPerSecond = 1000;
// Fewer samples may be chance, for example when the kernel migrates a thread and its lines follow.
constexpr uint64_t kMinTransferSamples = 4;

// Adds the time that threads would save if each had the data for itself. They also wait for the data in
// nearby code, whose samples lie elsewhere. Threads that could not be followed are assumed to lose the
// average of the others.
void add_saving(const ContendedData& found, const Paces& paces, ContendedRecord& record) {
  double all_s = 0, known_s = 0;
  PaceCost lost_s;
  for (const auto& [thread, busy_ns] : found.busy_ns) {
    const double busy_s = static_cast<double>(std::min(busy_ns, paces.cpu_ns(thread))) * 1e-9;
    all_s += busy_s;
    const std::optional<PaceCost> cost = paces.cost(thread, found.lines);
    if (!cost || busy_s <= 0) continue;
    known_s += busy_s;
    for (const auto part : {&PaceCost::value, &PaceCost::low, &PaceCost::high})
      lost_s.*part += busy_s * (*cost).*part;
    ++record.followed;
  }
  if (!record.followed) return;
  for (const auto part : {&PaceCost::value, &PaceCost::low, &PaceCost::high}) lost_s.*part *= all_s / known_s;
  if (!agrees_with_samples(lost_s, static_cast<double>(found.weight_ns) * 1e-9)) {
    record.followed = 0;
    return;
  }
  record.saving_s = lost_s.value;
  record.saving_high_s = lost_s.high;
  // Moving the data does not remove true sharing, so the saving may be anything from nothing to all.
  if (found.sharing == Sharing::False) record.saving_low_s = lost_s.low;
}

NamedPart named_part(const ContentionSide& side, const KnownData& data) {
  NamedPart part;
  part.bytes = side.bytes;
  const Variable* const variable = data.variable_of(side.object);
  if (!variable) {
    part.object = side.object == kNoObject ? "memory of unknown origin"
                                           : fmt::format("bytes {} to {} of the allocation", side.offset,
                                                         side.offset + side.bytes - 1);
    return part;
  }
  part.object = variable->name;
  part.type = variable->type;
  part.declared = place_in_source(variable->file, variable->line);
  part.language = variable->language;
  const std::vector<DataPart> parts = data.parts(side.object, side.offset, side.offset + side.bytes);
  if (parts.empty()) return part;
  part.path = parts.front().path;
  part.type = parts.front().type;
  if (parts.front().line > 0) part.declared = place_in_source(variable->file, parts.front().line);
  return part;
}

// Returns the name of the region that holds memory of no known object; empty if that is unknown too.
std::string region_at(const KnownData& data, uint64_t address) {
  const std::vector<MemoryRegion>& regions = data.process().regions;
  const auto at = std::ranges::find_if(regions, [address](const MemoryRegion& region) {
    return address >= region.start && address <= region.last;
  });
  if (at != regions.end()) return at->name;
  const ModuleAddress place = data.in_module(address);
  return place.module.empty() ? "" : fmt::format("the data of {}", base_name(place.module));
}

// The record's allocations, by object.
class AllocationsOfRecord {
 public:
  AllocationsOfRecord(const ContendedData& found, const KnownData& data, ContendedRecord& record) {
    std::vector<uint32_t> objects;
    std::ranges::copy_if(found.objects, std::back_inserter(objects),
                         [&](uint32_t object) { return data.allocated_in(object).has_value(); });
    std::ranges::stable_sort(objects, {}, [&](uint32_t object) { return data.objects()[object].begin; });
    for (const uint32_t object : objects) {
      Numbers& numbers = numbers_[object];
      if (objects.size() > 1) numbers.object = numbers_.size();
      const uint32_t context = *data.allocated_in(object);
      auto known = std::ranges::find(record.allocations, context, &ContendedRecord::Allocation::context);
      if (known == record.allocations.end()) {
        record.allocations.push_back({context, data.objects()[object].bytes, 0});
        known = std::prev(record.allocations.end());
      }
      if (known->bytes != data.objects()[object].bytes) known->bytes = 0;
      ++known->objects;
      numbers.allocation = static_cast<uint64_t>(known - record.allocations.begin()) + 1;
    }
  }

  void describe(uint32_t object, ContendedRecord::Side& side) const {
    const auto known = numbers_.find(object);
    if (known == numbers_.end()) return;
    side.object = known->second.object;
    side.allocation = known->second.allocation;
  }

 private:
  struct Numbers {
    uint64_t object = 0, allocation = 0;
  };
  std::map<uint32_t, Numbers> numbers_;
};

void add_advice(const ContendedData& found, const std::vector<NamedSide>& placed, uint32_t main,
                ObjectKind kind, const KnownData& data, ContendedRecord& record) {
  const TypedObjects objects = data.typed(found.objects);
  const Advice advice = advise(found.sharing, placed, kind, objects);
  record.remedy = advice.remedy;
  record.advice = advice.text;
  record.changes = describe_changes(advice.separation, objects);
  const auto after = advice.separation.bytes_after.find(main);
  if (after != advice.separation.bytes_after.end()) record.bytes_after = after->second;
}

ContendedRecord make_record(const ContendedData& found, const KnownData& data, const Paces& paces) {
  ContendedRecord record;
  record.host = data.process().host;
  record.rank = data.process().rank;
  record.process = data.process().process;
  record.sharing = found.sharing;
  record.lines = found.lines.size();
  record.weight_s = static_cast<double>(found.weight_ns) * 1e-9;
  add_saving(found, paces, record);
  record.false_moves = found.moves.of_false_sharing();
  record.true_moves = found.moves.of_true_sharing();
  record.adjacent_moves = found.adjacent_moves;
  record.transfers = found.transfers.loads;
  record.hitm = found.transfers.modified;
  record.remote_hitm = found.transfers.remote;
  record.latency_cycles = found.transfers.latency_cycles;
  record.interleaved = static_cast<double>(found.interleaved);
  record.address = found.lines.front();
  ObjectKind kind = ObjectKind::Static;
  record.name = region_at(data, record.address);
  const uint32_t main = data.main_object(found);
  if (main != kNoObject) {
    const DataObject& object = data.objects()[main];
    kind = object.kind;
    record.address = object.begin;
    record.bytes = object.bytes;
    record.name.clear();
    record.kind = kind == ObjectKind::Heap ? DataKind::Allocation : DataKind::Variable;
    if (const Variable* const variable = data.variable_of(main)) {
      record.name = variable->name;
      record.type = variable->type;
      record.declared = place_in_source(variable->file, variable->line);
      record.address = variable->address;
    }
  }
  const AllocationsOfRecord allocations(found, data, record);
  std::vector<NamedSide> placed;
  for (const ContentionSide& side : found.sides) {
    placed.push_back({side, named_part(side, data)});
    if (record.sides.size() == kMaxSides) continue;
    const uint64_t begin = side.object == kNoObject ? 0 : data.objects()[side.object].begin;
    ContendedRecord::Side& recorded = record.sides.emplace_back();
    recorded.profile = side.thread;
    recorded.place = side.object == kNoObject ? "" : placed.back().part.path;
    if (const Variable* const variable = data.variable_of(side.object)) {
      recorded.name = variable->name;
      recorded.declared = place_in_source(variable->file, variable->line);
      recorded.variable = data.place_of(side.object);
      recorded.variable_bytes = variable->bytes;
    }
    recorded.access = side.kind;
    // Memory of unknown origin has no start; only its line has one.
    recorded.offset = side.offset - (record.kind == DataKind::Unknown ? record.address : 0);
    recorded.bytes = side.bytes;
    recorded.line = hpcrun::line_of(begin + side.offset);
    recorded.line_offset = (begin + side.offset) % hpcrun::kLineBytes;
    allocations.describe(side.object, recorded);
    recorded.accesses = side.accesses;
    recorded.weight_s = static_cast<double>(side.weight_ns) * 1e-9;
    recorded.context = side.contexts.front();
  }
  add_advice(found, placed, main, kind, data, record);
  return record;
}

// Names the stack and the thread-local variables of a thread. A stack ends at the thread pointer, except the
// first thread's, whose thread-local variables lie elsewhere.
void add_regions(const MeasuredThread& thread, std::vector<MemoryRegion>& regions) {
  constexpr uint64_t kThreadLocal = 4096;  // bytes below the thread pointer that are most likely in use
  const std::string whose = fmt::format("of thread {}{}", thread.index, thread.index == 0 ? " (main)" : "");
  if (thread.stack_high > thread.stack_low && thread.stack_high == thread.pointer)
    return regions.push_back(
        {thread.stack_low, thread.stack_high - 1, "the stack or thread-local variables " + whose});
  if (thread.stack_high > thread.stack_low)
    regions.push_back({thread.stack_low, thread.stack_high - 1, "the stack " + whose});
  if (thread.pointer > kThreadLocal)
    regions.push_back(
        {thread.pointer - kThreadLocal, thread.pointer - 1, "the thread-local variables " + whose});
}

ProcessData data_of(const ProcessMeasurement& measurement) {
  const MeasuredProcess& measured = measurement.process;
  ProcessData data{measured.host, measured.rank, measured.pid, modules_in_memory(measurement), {}};
  for (const MeasuredThread& thread : measurement.threads)
    if (thread.kind == TrackKind::Thread) add_regions(thread, data.regions);
  return data;
}

// Returns how long the process was measured; 0 if unknown, because it was killed.
double seconds_of(const ProcessMeasurement& measurement) {
  const uint64_t end = measurement.counter(hpcrun::Counter::EndMonotonicNs);
  const uint64_t out =
      measurement.process.start_monotonic_ns + measurement.counter(hpcrun::Counter::PausedNanoseconds);
  return end > out ? static_cast<double>(end - out) * 1e-9 : 0;
}

std::vector<ContendedRecord> records_of_writes(const ProcessMeasurement& measurement,
                                               std::span<const ThreadInDatabase> threads, KnownData& data) {
  const std::vector<WrittenBytes> written = measured_writes(
      measurement, threads, [&](const MeasuredAccess& place) { return data.object_of(place); });
  const double seconds = seconds_of(measurement);
  std::vector<ContendedRecord> records;
  for (const ContendedData& found : find_written_data(written, data.objects())) {
    ContendedRecord& record = records.emplace_back(make_record(found, data, {}));
    record.source = EvidenceSource::Pages;
    if (seconds > 0) record.interleaved_per_s = record.interleaved / seconds;
  }
  return records;
}

std::vector<ContendedRecord> make_records(const std::vector<ContentionAccess>& accesses,
                                          const KnownData& data, const Paces& paces,
                                          const ContentionOptions& options,
                                          const MeasuredContexts* contexts = nullptr) {
  std::vector<ContendedRecord> records;
  for (const ContendedData& found : find_contended_data(accesses, data.objects(), options)) {
    records.push_back(make_record(found, data, paces));
    if (contexts) add_placeable(found, data, *contexts, records.back());
  }
  return records;
}

}  // namespace

const ContentionOptions kHardwareFinding{.window_ns = 1'000'000'000,
                                         .resolution_ns = 100'000'000,
                                         .least_moves = 0,
                                         .least_transfers = kMinTransferSamples};

bool note_transfers(ContendedRecord& record, double seconds, EvidenceSource source) {
  record.source = source;
  if (seconds <= 0) return true;
  record.transfers_per_s = record.transfers / seconds;
  return record.transfers_per_s >= kMinTransfersPerSecond;
}

bool looked_for_contention(const std::vector<ProcessMeasurement>& measurements) {
  return std::ranges::any_of(measurements, [](const ProcessMeasurement& measurement) {
    return measurement.counter(hpcrun::Counter::LooksForContention) != 0;
  });
}

bool has_accesses(const ProcessMeasurement& measurement) {
  if (!measurement.written.empty()) return true;
  return std::ranges::any_of(measurement.threads, [](const MeasuredThread& thread) {
    return thread.access_extents && !thread.access_extents->empty();
  });
}

std::vector<ContendedRecord> contended_records(const ProcessMeasurement& measurement,
                                               std::span<const ThreadInDatabase> threads,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings) {
  const ProcessData process = data_of(measurement);
  KnownData data(process, options, warnings);
  data.add(measurement.objects, threads);
  if (!measurement.written.empty()) return records_of_writes(measurement, threads, data);
  const std::vector<ContentionAccess> accesses =
      measured_accesses(threads, [&](const MeasuredAccess& access) { return data.object_of(access); });
  const std::optional<EvidenceSource> source = contention_hardware(measurement);
  const MeasuredContexts contexts(measurement);
  std::vector<ContendedRecord> records = make_records(
      accesses, data, measured_paces(threads), source ? kHardwareFinding : ContentionOptions{}, &contexts);
  if (source)
    std::erase_if(records, [&, seconds = seconds_of(measurement)](ContendedRecord& record) {
      return !note_transfers(record, seconds, *source);
    });
  return records;
}

std::vector<ContendedRecord> contended_records(const ProcessData& process,
                                               std::vector<ContentionAccess> accesses,
                                               const ContentionOptions& finding,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings) {
  KnownData data(process, options, warnings);
  for (ContentionAccess& access : accesses) access.object = data.variable_at(access.address);
  return make_records(accesses, data, {}, finding);
}

}  // namespace prof
