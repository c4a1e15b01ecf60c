#pragma once
// An outline: the part of a measurement that the whole analysis needs for every measurement at once.

#include <vector>

#include "analysis/pipeline/measurement_store.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Returns the outline. Of a thread's call paths it has only the root, with the sum of each metric. It has no
// objects, repairs, writes, waits, locks, wasted accesses or streams.
ProcessMeasurement outline_of(const ProcessMeasurement& measurement);

// Returns which of the omitted parts the measurement has.
MeasurementStore::Contents contents_of(const ProcessMeasurement& measurement);

// True if the outline, received from another process, is consistent: each index in it refers to something
// that exists.
bool is_outline(const ProcessMeasurement& outline, const MeasurementStore::Contents& contents);

// Serialization for other processes (analysis/workers/packing.h). Measurements are serialized as outlines.
template <typename Archive>
void fields(Archive& archive, MeasurementStore::Contents& contents) {
  auto& [accesses, lock_waits, memory_waste, device_waits, repairs, nodes] = contents;
  archive(accesses, lock_waits, memory_waste, device_waits, repairs, nodes);
}
template <typename Archive>
void fields(Archive& archive, ClockDrift& drift) {
  auto& [from, until, lost] = drift;
  archive(from, until, lost);
}
template <typename Archive>
void fields(Archive& archive, MeasuredProcess& process) {
  auto& [command, executable, host, environment, pid, parent, rank, ranks, realtime, monotonic, end, seen,
         drift] = process;
  archive(command, executable, host, environment, pid, parent, rank, ranks, realtime, monotonic, end, seen,
          drift);
}
template <typename Archive>
void fields(Archive& archive, MeasuredMetric& metric) {
  auto& [id, name, unit, source, note, scale, requested_hz] = metric;
  archive(id, name, unit, source, note, scale, requested_hz);
}
template <typename Archive>
void fields(Archive& archive, MeasuredModule& module) {
  auto& [id, path, build_id, start, end, load_bias, file] = module;
  archive(id, path, build_id, start, end, load_bias, file.device, file.inode, file.bytes);
}
template <typename Archive>
void fields(Archive& archive, MeasuredDevice& device) {
  auto& [index, track, first_use_ns, name, uuid, api, driver] = device;
  archive(index, track, first_use_ns, name, uuid, api, driver);
}
template <typename Archive>
void fields(Archive& archive, MeasuredQueue& queue) {
  auto& [track, device, created_ns, name] = queue;
  archive(track, device, created_ns, name);
}
template <typename Archive>
void fields(Archive& archive, MeasuredNote& note) {
  auto& [kind, text] = note;
  archive(kind, text);
}
template <typename Archive>
void fields(Archive& archive, MeasuredThread& thread) {
  archive(thread.index, thread.kind, thread.tid, thread.name, thread.start_ns, thread.end_ns, thread.cpu_ns,
          thread.nodes, thread.cells, thread.trace_bytes, thread.quantum_ns);
}
template <typename Archive>
void fields(Archive& archive, ProcessMeasurement& outline) {
  archive(outline.file, outline.process, outline.metrics, outline.modules, outline.threads, outline.devices,
          outline.queues, outline.notes, outline.counters, outline.stack_reasons, outline.file_bytes,
          outline.owner);
}

}  // namespace prof
