#include "analysis/pipeline/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/contention/advice.h"
#include "analysis/pipeline/measured_accesses.h"

namespace prof {
namespace {

using hpcrun::AccessKind;
using hpcrun::Sharing;

constexpr size_t kMostSides = 64;  // of a finding
// Costs a thread less than 0.1 % of its time, at some hundred cycles each. TMI found that what is worth a
// repair has 100,000.
constexpr double kLeastTransfersPerSecond = 1000;
// Fewer may be chance, as when a line moves with a thread that the kernel moves.
constexpr uint64_t kLeastTransferSamples = 4;

// The data of one process: what lies at an address.
class Data {
 public:
  Data(const ProcessData& process, const AttributionOptions& options, std::vector<std::string>& warnings)
      : process_(process), known_(process.modules, options, warnings) {}

  // Those of one calling context have one site.
  void add(std::span<const MeasuredObject> allocations, std::span<const ThreadInDatabase> threads) {
    std::map<uint32_t, uint32_t> sites;
    for (const MeasuredObject& object : allocations) {
      DataObject made;
      made.kind = ObjectKind::Heap;
      made.begin = object.begin;
      made.bytes = object.bytes;
      made.born_ns = object.born_ns;
      if (object.died_ns) made.died_ns = object.died_ns;
      const uint32_t context = context_of(object, threads);
      const auto [site, is_new] = sites.try_emplace(context, next_site_);
      if (is_new) ++next_site_;
      made.site = site->second;
      allocated_in_[static_cast<uint32_t>(objects_.size())] = context;
      by_id_[object.id] = static_cast<uint32_t>(objects_.size());
      objects_.push_back(made);
    }
  }

  const ProcessData& process() const { return process_; }
  const std::vector<DataObject>& objects() const { return objects_; }

  // Where the allocation was made; nothing for what is none.
  std::optional<uint32_t> allocated_in(uint32_t object) const {
    const auto known = allocated_in_.find(object);
    return known == allocated_in_.end() ? std::nullopt : std::optional(known->second);
  }

  uint32_t object_of(const MeasuredAccess& access) {
    if (access.object) {
      const auto known = by_id_.find(access.object - 1);
      return known == by_id_.end() ? kNoObject : known->second;
    }
    return variable_at(access.address);
  }

  uint32_t variable_at(uint64_t address) {
    const VariableInMemory found = known_.find(address);
    if (!found.variable) return kNoObject;
    const auto [known, added] =
        by_variable_.try_emplace(found.variable, static_cast<uint32_t>(objects_.size()));
    if (added) {
      DataObject made;
      made.begin = found.begin;
      made.bytes = found.variable->bytes;
      made.site = next_site_++;
      objects_.push_back(made);
      variables_[known->second] = found;
    }
    return known->second;
  }

  const Variable* variable_of(uint32_t object) const {
    const auto known = variables_.find(object);
    return known == variables_.end() ? nullptr : known->second.variable;
  }

  std::vector<DataPart> parts(uint32_t object, uint64_t from, uint64_t to) const {
    const auto known = variables_.find(object);
    if (known == variables_.end()) return {};
    return known->second.variables->parts(*known->second.variable, from, to);
  }

 private:
  // 0, the root, where the thread is lost.
  static uint32_t context_of(const MeasuredObject& object, std::span<const ThreadInDatabase> threads) {
    const auto maker = std::ranges::find_if(
        threads, [&](const ThreadInDatabase& thread) { return thread.thread->index == object.thread; });
    return maker == threads.end() || object.node >= maker->context_of.size() ? 0
                                                                             : maker->context_of[object.node];
  }

  const ProcessData& process_;
  ProcessVariables known_;
  uint32_t next_site_ = 0;
  std::vector<DataObject> objects_;
  std::map<uint64_t, uint32_t> by_id_;
  std::map<uint32_t, uint32_t> allocated_in_;  // object to context
  std::map<const Variable*, uint32_t> by_variable_;
  std::map<uint32_t, VariableInMemory> variables_;
};

// What the threads would not need if each had the data for itself. Threads that could not be followed lose as
// much as the others do on average.
void add_saving(const ContendedData& found, const Paces& paces, ContendedRecord& record) {
  std::map<uint32_t, double> weights;
  for (const ContentionSide& side : found.sides)
    weights[side.thread] += static_cast<double>(side.weight_ns) * 1e-9;
  double known_s = 0, lost_s = 0;
  for (const auto& [thread, weight_s] : weights) {
    const std::optional<double> cost = paces.cost(thread, found.lines);
    if (!cost || weight_s <= 0) continue;
    known_s += weight_s;
    lost_s += weight_s * *cost;
    ++record.followed;
  }
  if (record.followed) record.saving_s = lost_s / known_s * record.weight_s;
}

NamedPlace named_place(const ContentionSide& side, const Data& data) {
  NamedPlace place;
  place.bytes = side.bytes;
  const Variable* const variable = data.variable_of(side.object);
  if (!variable) {
    place.object = side.object == kNoObject ? "memory of unknown origin"
                                            : fmt::format("bytes {} to {} of the allocation", side.offset,
                                                          side.offset + side.bytes - 1);
    return place;
  }
  place.object = variable->name;
  place.type = variable->type;
  place.declared = place_in_source(variable->file, variable->line);
  const std::vector<DataPart> parts = data.parts(side.object, side.offset, side.offset + side.bytes);
  if (parts.empty()) return place;
  place.path = parts.front().path;
  place.type = parts.front().type;
  if (parts.front().line > 0) place.declared = place_in_source(variable->file, parts.front().line);
  return place;
}

std::string region_at(const ProcessData& process, uint64_t address) {
  const auto at = std::ranges::find_if(process.regions, [address](const MemoryRegion& region) {
    return address >= region.start && address <= region.last;
  });
  return at == process.regions.end() ? "" : at->name;
}

const char* words_for(AccessKind kind) {
  if (kind == AccessKind::ReadWrite) return "reads and writes";
  return kind == AccessKind::Write ? "writes" : "reads";
}

const char* name_of(Sharing sharing) {
  if (sharing == Sharing::Mixed) return "mixed";
  return sharing == Sharing::True ? "true" : "false";
}

const char* name_of(Remedy remedy) {
  switch (remedy) {
    case Remedy::AlignObjects:
      return "align-objects";
    case Remedy::PadElements:
      return "pad-elements";
    case Remedy::SeparateFields:
      return "separate-fields";
    case Remedy::CopyPerThread:
      return "copy-per-thread";
  }
  return "";
}

// The record's allocations, and which of them an object is.
class AllocationsOfRecord {
 public:
  AllocationsOfRecord(const ContendedData& found, const Data& data, ContendedRecord& record) {
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

  void tell(uint32_t object, ContendedRecord::Side& side) const {
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

ContendedRecord make_record(const ContendedData& found, const Data& data, const Paces& paces) {
  ContendedRecord record;
  record.host = data.process().host;
  record.rank = data.process().rank;
  record.process = data.process().process;
  record.sharing = name_of(found.sharing);
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
  record.kind = "unknown";
  record.address = found.lines.front();
  ObjectKind kind = ObjectKind::Static;
  record.name = region_at(data.process(), record.address);
  if (!found.objects.empty()) {
    const DataObject& object = data.objects()[found.objects.front()];
    kind = object.kind;
    record.address = object.begin;
    record.bytes = object.bytes;
    record.name.clear();
    record.kind = kind == ObjectKind::Heap ? "allocation" : "variable";
    if (const Variable* const variable = data.variable_of(found.objects.front())) {
      record.name = variable->name;
      record.type = variable->type;
      record.declared = place_in_source(variable->file, variable->line);
      record.address = variable->address;
    }
  }
  const AllocationsOfRecord allocations(found, data, record);
  std::vector<PlacedSide> placed;
  for (const ContentionSide& side : found.sides) {
    placed.push_back({side, named_place(side, data)});
    if (record.sides.size() == kMostSides) continue;
    const uint64_t begin = side.object == kNoObject ? 0 : data.objects()[side.object].begin;
    ContendedRecord::Side& told = record.sides.emplace_back();
    told.profile = side.thread;
    told.place = side.object == kNoObject ? "" : placed.back().place.path;
    told.access = words_for(side.kind);
    // Of memory of unknown origin nothing but its line has a begin.
    told.offset = side.offset - (record.kind == "unknown" ? record.address : 0);
    told.bytes = side.bytes;
    told.line = hpcrun::line_of(begin + side.offset);
    told.line_offset = (begin + side.offset) % hpcrun::kLineBytes;
    allocations.tell(side.object, told);
    told.accesses = side.accesses;
    told.weight_s = static_cast<double>(side.weight_ns) * 1e-9;
    told.context = side.contexts.front();
  }
  const Advice advice = advise(found.sharing, placed, kind);
  record.remedy = name_of(advice.remedy);
  record.advice = advice.text;
  return record;
}

ProcessData data_of(const ProcessMeasurement& measurement) {
  const MeasuredProcess& measured = measurement.process;
  return {measured.host, measured.rank, measured.pid, modules_in_memory(measurement), {}};
}

// In which it was measured; 0: not known, for one that was killed.
double seconds_of(const ProcessMeasurement& measurement) {
  const uint64_t end = measurement.counter(hpcrun::Counter::EndMonotonicNs);
  const uint64_t out =
      measurement.process.start_monotonic_ns + measurement.counter(hpcrun::Counter::PausedNanoseconds);
  return end > out ? static_cast<double>(end - out) * 1e-9 : 0;
}

std::vector<ContendedRecord> make_records(const std::vector<ContentionAccess>& accesses, const Data& data,
                                          const Paces& paces, const ContentionOptions& options) {
  std::vector<ContendedRecord> records;
  for (const ContendedData& found : find_contended_data(accesses, data.objects(), options))
    records.push_back(make_record(found, data, paces));
  return records;
}

}  // namespace

const ContentionOptions kHardwareFinding{.window_ns = 1'000'000'000,
                                         .resolution_ns = 100'000'000,
                                         .least_moves = 0,
                                         .least_transfers = kLeastTransferSamples};

bool note_transfers(ContendedRecord& record, double seconds, const std::string& source) {
  record.source = source;
  if (seconds <= 0) return true;
  record.transfers_per_s = record.transfers / seconds;
  return record.transfers_per_s >= kLeastTransfersPerSecond;
}

bool looked_for_contention(const std::vector<ProcessMeasurement>& measurements) {
  return std::ranges::any_of(measurements, [](const ProcessMeasurement& measurement) {
    return measurement.counter(hpcrun::Counter::LooksForContention) != 0;
  });
}

bool has_accesses(const ProcessMeasurement& measurement) {
  return std::ranges::any_of(measurement.threads, [](const MeasuredThread& thread) {
    return thread.access_extents && !thread.access_extents->empty();
  });
}

std::vector<ContendedRecord> contended_records(const ProcessMeasurement& measurement,
                                               std::span<const ThreadInDatabase> threads,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings) {
  const ProcessData process = data_of(measurement);
  Data data(process, options, warnings);
  data.add(measurement.objects, threads);
  const std::vector<ContentionAccess> accesses =
      measured_accesses(threads, [&](const MeasuredAccess& access) { return data.object_of(access); });
  const char* const source = contention_hardware(measurement);
  std::vector<ContendedRecord> records =
      make_records(accesses, data, measured_paces(threads), source ? kHardwareFinding : ContentionOptions{});
  if (source)
    std::erase_if(records, [&, seconds = seconds_of(measurement)](ContendedRecord& record) {
      return !note_transfers(record, seconds, source);
    });
  return records;
}

std::vector<ContendedRecord> contended_records(const ProcessData& process,
                                               std::vector<ContentionAccess> accesses,
                                               const ContentionOptions& finding,
                                               const AttributionOptions& options,
                                               std::vector<std::string>& warnings) {
  Data data(process, options, warnings);
  for (ContentionAccess& access : accesses) access.object = data.variable_at(access.address);
  return make_records(accesses, data, {}, finding);
}

}  // namespace prof
