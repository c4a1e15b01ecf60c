#include "analysis/pipeline/measurement_outline.h"

#include <algorithm>

#include "analysis/pipeline/contention.h"
#include "analysis/pipeline/locks.h"
#include "analysis/pipeline/memory_waste.h"

namespace prof {
namespace {

// Returns one cell for each metric.
std::vector<MeasuredCell> totals(const std::vector<MeasuredCell>& cells) {
  std::vector<MeasuredCell> sums;
  for (const MeasuredCell& cell : cells) {
    const auto known = std::ranges::find(sums, cell.metric, &MeasuredCell::metric);
    MeasuredCell& sum =
        known != sums.end() ? *known : sums.emplace_back(MeasuredCell{.node = 0, .metric = cell.metric});
    sum.samples += cell.samples;
    sum.value += cell.value;
  }
  return sums;
}

MeasuredThread outline_of(const MeasuredThread& thread) {
  MeasuredThread outline;
  outline.index = thread.index;
  outline.kind = thread.kind;
  outline.tid = thread.tid;
  outline.name = thread.name;
  outline.start_ns = thread.start_ns;
  outline.end_ns = thread.end_ns;
  outline.cpu_ns = thread.cpu_ns;
  outline.nodes.resize(1);
  outline.cells = totals(thread.cells);
  outline.trace_bytes = thread.trace_bytes;
  outline.quantum_ns = thread.quantum_ns;
  return outline;
}

}  // namespace

ProcessMeasurement outline_of(const ProcessMeasurement& measurement) {
  ProcessMeasurement outline;
  outline.file = measurement.file;
  outline.process = measurement.process;
  outline.metrics = measurement.metrics;
  outline.modules = measurement.modules;
  for (const MeasuredThread& thread : measurement.threads) outline.threads.push_back(outline_of(thread));
  outline.devices = measurement.devices;
  outline.queues = measurement.queues;
  outline.notes = measurement.notes;
  outline.counters = measurement.counters;
  outline.stack_reasons = measurement.stack_reasons;
  outline.file_bytes = measurement.file_bytes;
  outline.owner = measurement.owner;
  return outline;
}

MeasurementStore::Contents contents_of(const ProcessMeasurement& measurement) {
  MeasurementStore::Contents contents;
  contents.accesses = has_accesses(measurement);
  contents.lock_waits = has_lock_waits(measurement);
  contents.memory_waste = has_memory_waste(measurement);
  contents.repairs = !measurement.repairs.empty();
  for (const MeasuredThread& thread : measurement.threads) {
    contents.device_waits |= thread.wait_extents && !thread.wait_extents->empty();
    contents.nodes.push_back(static_cast<uint32_t>(thread.nodes.size()));
  }
  return contents;
}

bool is_outline(const ProcessMeasurement& outline, const MeasurementStore::Contents& contents) {
  const std::vector<MeasuredThread>& threads = outline.threads;
  const auto rise = [](uint32_t a, uint32_t b) { return a < b; };
  const auto is_track = [&](const MeasuredThread& thread) {
    const bool is_of_queue =
        std::ranges::find(outline.queues, thread.index, &MeasuredQueue::track) != outline.queues.end();
    return thread.kind <= TrackKind::Device && (thread.kind == TrackKind::Queue) == is_of_queue &&
           thread.quantum_ns > 0 && thread.nodes.size() == 1 &&
           std::ranges::all_of(thread.cells, [](const MeasuredCell& cell) { return cell.node == 0; });
  };
  return std::ranges::is_sorted(threads, rise, &MeasuredThread::index) &&
         std::ranges::is_sorted(outline.devices, rise, &MeasuredDevice::index) &&
         std::ranges::all_of(threads, is_track) && contents.nodes.size() == threads.size() &&
         std::ranges::all_of(contents.nodes, [](uint32_t nodes) { return nodes > 0; }) &&
         std::ranges::all_of(outline.queues, [&](const MeasuredQueue& queue) {
           return std::ranges::binary_search(threads, queue.track, {}, &MeasuredThread::index);
         });
}

}  // namespace prof
