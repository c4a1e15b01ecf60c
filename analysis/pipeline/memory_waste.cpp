#include "analysis/pipeline/memory_waste.h"

#include <algorithm>

#include "analysis/pipeline/process_variables.h"
#include "hpcrun/measurement/waste_metrics.h"

namespace prof {
namespace {

using hpcrun::Counter;
using hpcrun::WasteKind;
using hpcrun::WasteMetric;

constexpr size_t kMaxPairs = 4096;  // more than any reader looks at; 1 MB of run.json
constexpr WasteKind kKinds[] = {WasteKind::DeadStore, WasteKind::SilentStore, WasteKind::RedundantLoad};

bool is_total(const MeasuredWasteCell& cell) {
  return cell.second_node == 0;
}

bool is_undecided(const MeasuredWasteCell& cell) {
  return (cell.flags & hpcrun::kWasteUndecided) != 0;
}

bool searched_for(const ProcessMeasurement& measurement, WasteKind kind) {
  return (measurement.counter(Counter::LooksForWaste) >> static_cast<unsigned>(kind) & 1) != 0;
}

WasteMetric metric_of_waste(WasteKind kind) {
  switch (kind) {
    case WasteKind::DeadStore:
      return WasteMetric::DeadWrite;
    case WasteKind::SilentStore:
      return WasteMetric::SilentWrite;
    case WasteKind::RedundantLoad:
      return WasteMetric::RedundantLoad;
  }
  return WasteMetric::DeadWrite;
}

// Dead stores and silent stores are searched for among the same stores, which count once.
bool counts_as_written(const ProcessMeasurement& measurement, WasteKind kind) {
  return kind == WasteKind::DeadStore ||
         (kind == WasteKind::SilentStore && !searched_for(measurement, WasteKind::DeadStore));
}

// Charges the wasted access of a pair, which is the first one for dead stores and the second one for others.
class Charges {
 public:
  explicit Charges(ProcessMeasurement& measurement) : measurement_(measurement) {
    for (MeasuredThread& thread : measurement.threads) by_index_[thread.index] = &thread;
  }

  void add(const MeasuredWasteCell& cell) {
    if (is_undecided(cell)) return;
    if (is_total(cell)) return add_total(cell);
    const bool is_first = cell.kind == WasteKind::DeadStore;
    add(is_first ? cell.first_thread : cell.second_thread, is_first ? cell.first_node : cell.second_node,
        metric_of_waste(cell.kind), cell.bytes);
  }

 private:
  void add_total(const MeasuredWasteCell& cell) {
    if (cell.kind == WasteKind::RedundantLoad)
      add(cell.first_thread, cell.first_node, WasteMetric::Loaded, cell.bytes);
    else if (counts_as_written(measurement_, cell.kind))
      add(cell.first_thread, cell.first_node, WasteMetric::Written, cell.bytes);
  }

  void add(uint32_t thread, uint32_t node, WasteMetric metric, uint64_t bytes) {
    by_index_.at(thread)->cells.push_back({node, static_cast<uint16_t>(metric), 0, bytes});
  }

  ProcessMeasurement& measurement_;
  std::map<uint32_t, MeasuredThread*> by_index_;
};

// Replaces subscripts: elements of an array are one object.
std::string without_subscripts(const std::string& path) {
  std::string text;
  int depth = 0;
  for (const char c : path) {
    if (c == ']') --depth;
    if (depth == 0) text += c;
    if (c == '[') ++depth;
  }
  return text;
}

// Describes the memory of pairs of one process.
class Memory {
 public:
  Memory(const ProcessMeasurement& measurement, const std::map<uint32_t, std::span<const uint32_t>>& contexts,
         const AttributionOptions& options, std::vector<std::string>& warnings)
      : measurement_(measurement),
        contexts_(contexts),
        modules_(modules_in_memory(measurement)),
        variables_(modules_, options, warnings) {}

  void describe(const MeasuredWasteCell& cell, WastePair& pair) {
    pair.access_bytes = cell.access_bytes;
    pair.allocation = cell.object_node == 0 ? 0 : context_of(cell.object_thread, cell.object_node);
    pair.on_stack = pair.allocation == 0 && (pair.frame_ended || is_stack(cell.address));
    pair.name = pair.declared = "";
    if (pair.allocation == 0 && !pair.on_stack && cell.address != 0) name(cell, pair);
  }

 private:
  uint32_t context_of(uint32_t thread, uint32_t node) const {
    const auto contexts = contexts_.find(thread);
    return contexts == contexts_.end() || node >= contexts->second.size() ? 0 : contexts->second[node];
  }

  bool is_stack(uint64_t address) const {
    return std::ranges::any_of(measurement_.threads, [address](const MeasuredThread& thread) {
      return thread.stack_low <= address && address < thread.stack_high;
    });
  }

  void name(const MeasuredWasteCell& cell, WastePair& pair) {
    const VariableInMemory found = variables_.find(cell.address);
    if (!found.variable) return;
    const uint64_t offset = cell.address - found.begin;
    const std::vector<DataPart> parts = found.variables->parts(*found.variable, offset, offset + 1);
    pair.name = found.variable->name + (parts.empty() ? "" : without_subscripts(parts.front().path));
    pair.declared = place_in_source(found.variable->file, found.variable->line);
  }

  const ProcessMeasurement& measurement_;
  const std::map<uint32_t, std::span<const uint32_t>>& contexts_;
  const std::vector<ModuleInMemory> modules_;
  ProcessVariables variables_;
};

void add(const MeasuredWasteCell& cell, WasteTotal& total) {
  if (is_undecided(cell)) {
    total.undecided_count += cell.count;
  } else if (is_total(cell)) {
    total.checked_count += cell.count;
    total.checked_bytes += cell.bytes;
  } else {
    total.wasted_count += cell.count;
    total.wasted_bytes += cell.bytes;
  }
}

}  // namespace

void charge_memory_waste(ProcessMeasurement& measurement) {
  if (!has_memory_waste(measurement)) return;
  Charges charges(measurement);
  for (const MeasuredThread& thread : measurement.threads)
    for (const MeasuredWasteCell& cell : thread.waste) charges.add(cell);
}

bool searched_for_memory_waste(const std::vector<ProcessMeasurement>& measurements) {
  return std::ranges::any_of(measurements, [](const ProcessMeasurement& measurement) {
    return measurement.counter(Counter::LooksForWaste) != 0;
  });
}

bool has_memory_waste(const ProcessMeasurement& measurement) {
  return std::ranges::any_of(measurement.threads,
                             [](const MeasuredThread& thread) { return !thread.waste.empty(); });
}

WasteTotal& MemoryWaste::total_of(WasteKind kind) {
  WasteTotal& total = totals_[kind];
  total.kind = kind;
  return total;
}

void MemoryWaste::add(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
                      const AttributionOptions& options, std::vector<std::string>& warnings) {
  std::map<uint32_t, std::span<const uint32_t>> context_of;
  for (const ThreadInDatabase& thread : threads) context_of[thread.thread->index] = thread.context_of;
  Memory memory(measurement, context_of, options, warnings);
  for (const ThreadInDatabase& thread : threads) {
    for (const MeasuredWasteCell& cell : thread.thread->waste) {
      prof::add(cell, total_of(cell.kind));
      if (is_total(cell) || is_undecided(cell)) continue;
      const auto first = context_of.find(cell.first_thread), second = context_of.find(cell.second_thread);
      if (first == context_of.end() || second == context_of.end()) continue;
      const bool frame_ended = (cell.flags & hpcrun::kWasteFrameEnded) != 0;
      const Key key{cell.kind, first->second[cell.first_node], second->second[cell.second_node], frame_ended};
      Sum& sum = sums_[key];
      std::tie(sum.pair.kind, sum.pair.first, sum.pair.second, sum.pair.frame_ended) = key;
      sum.pair.count += cell.count;
      sum.pair.bytes += cell.bytes;
      if (cell.bytes <= sum.largest) continue;
      sum.largest = cell.bytes;
      memory.describe(cell, sum.pair);
    }
  }
}

MemoryWasteRecord MemoryWaste::take(const std::vector<ProcessMeasurement>& measurements) {
  MemoryWasteRecord record;
  record.was_searched = true;
  // If only some processes were counted exactly, the shares of all are estimates.
  record.is_exact = std::ranges::none_of(measurements, [](const ProcessMeasurement& measurement) {
    return (measurement.counter(Counter::LooksForWaste) & hpcrun::kWasteSampled) != 0;
  });
  for (const ProcessMeasurement& measurement : measurements) {
    for (const WasteKind kind : kKinds)
      if (searched_for(measurement, kind)) total_of(kind);
  }
  for (const auto& [kind, total] : totals_) record.totals.push_back(total);
  for (auto& [key, sum] : sums_) record.pairs.push_back(std::move(sum.pair));
  std::ranges::stable_sort(record.pairs, std::greater(), &WastePair::bytes);
  if (record.pairs.size() > kMaxPairs) record.pairs.resize(kMaxPairs);
  return record;
}

}  // namespace prof
