#include "tests/measurement/invariants.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "hpcrun/measurement/checksum.h"

namespace prof::test {
namespace {

const char* broken_in_tasks(const MeasuredThread& track) {
  RecordReader<DeviceTask> reader = track.tasks();
  uint64_t records = 0;
  for (DeviceTask task; reader.next(task); ++records) {
    if (task.submit_ns > task.start_ns) return "a task is submitted before it starts";
    if (task.start_ns > task.end_ns) return "a task starts before it ends";
    if (task.stands_from_ns > task.stands_until_ns) return "a task stands for no negative time";
    if (task.node >= track.nodes.size()) return "a task's node exists";
  }
  if (records > track.trace_bytes / hpcrun::kTaskNumbers) return "tasks take space";
  return nullptr;
}

const char* broken_in_waits(const MeasuredThread& thread) {
  RecordReader<DeviceWait> reader = thread.device_waits();
  uint64_t records = 0;
  for (DeviceWait wait; reader.next(wait); ++records) {
    if (wait.begin_ns > wait.end_ns) return "a wait begins before it ends";
    uint64_t rest = wait.end_ns - wait.begin_ns;
    for (const uint64_t part : {wait.launch_latency_ns, wait.gap_ns, wait.wake_latency_ns}) {
      if (part > rest) return "the parts of a wait do not exceed it";
      rest -= part;
    }
    if (wait.node >= thread.nodes.size()) return "a wait's node exists";
  }
  if (records > thread.trace_bytes / hpcrun::kWaitNumbers) return "waits take space";
  return nullptr;
}

const char* broken_in_accesses(const MeasuredThread& thread) {
  RecordReader<MeasuredAccess> reader = thread.accesses();
  uint64_t records = 0;
  for (MeasuredAccess access; reader.next(access); ++records) {
    if (access.weight_ns > access.time_ns) return "a sample stands for time that was";
    if (access.node >= thread.nodes.size()) return "an access's node exists";
  }
  if (records > thread.trace_bytes / hpcrun::kAccessNumbers) return "accesses take space";
  return nullptr;
}

const char* broken_in_devices(const ProcessMeasurement& measurement) {
  if (!std::ranges::is_sorted(measurement.devices, {}, &MeasuredDevice::index)) return "devices are sorted";
  if (!std::ranges::is_sorted(measurement.queues, {}, &MeasuredQueue::track)) return "queues are sorted";
  if (!std::ranges::is_sorted(measurement.objects, {}, &MeasuredObject::id)) return "objects are sorted";
  if (!std::ranges::is_sorted(measurement.repairs, {}, &MeasuredRepair::time_ns)) return "repairs are sorted";
  if (!std::ranges::is_sorted(measurement.symbols, {}, &MeasuredSymbol::frame)) return "symbols are sorted";
  if (!std::ranges::is_sorted(measurement.written, {}, &MeasuredWritten::line)) return "lines are sorted";
  for (const MeasuredWritten& written : measurement.written)
    if (written.bytes == 0 || written.line % 64 != 0) return "bytes of a line were written";
  for (const MeasuredQueue& queue : measurement.queues)
    if (std::ranges::find(measurement.threads, queue.track, &MeasuredThread::index) ==
        measurement.threads.end())
      return "a queue has a track";
  return nullptr;
}

const char* broken_in_waste(const ProcessMeasurement& measurement) {
  const auto exists = [&](uint32_t index, uint32_t node) {
    const auto thread = std::ranges::find(measurement.threads, index, &MeasuredThread::index);
    return thread != measurement.threads.end() && node < thread->nodes.size();
  };
  for (const MeasuredThread& thread : measurement.threads) {
    for (const MeasuredWasteCell& cell : thread.waste) {
      if (!exists(cell.first_thread, cell.first_node)) return "the first access's node exists";
      if (cell.second_node != 0 && !exists(cell.second_thread, cell.second_node))
        return "the second access's node exists";
      if (cell.object_node != 0 && !exists(cell.object_thread, cell.object_node))
        return "the allocation's node exists";
    }
  }
  return nullptr;
}

const char* broken_in_thread(const MeasuredThread& thread) {
  if (thread.nodes.empty()) return "a thread has a root";
  for (size_t id = 1; id < thread.nodes.size(); ++id) {
    if (thread.nodes[id].parent >= id) return "a parent comes before its children";
  }
  for (const MeasuredCell& cell : thread.cells) {
    if (cell.node >= thread.nodes.size()) return "a cell's node exists";
  }
  std::array<TraceSample, 256> block;
  TraceReader reader = thread.trace();
  uint64_t last = 0;
  uint64_t records = 0;
  while (const size_t count = reader.read(block)) {
    for (size_t i = 0; i < count; ++i) {
      if (block[i].time_ns < last) return "time does not decrease";
      last = block[i].time_ns;
      if (block[i].node != kTraceGapNode && block[i].node >= thread.nodes.size())
        return "a sample's node exists";
    }
    records += count;
  }
  // A record takes at least two bytes; a lost extent adds one gap.
  if (records > thread.trace_bytes / 2 + thread.trace_extents->size()) return "records take space";
  if (const char* broken = broken_in_tasks(thread)) return broken;
  if (const char* broken = broken_in_waits(thread)) return broken;
  return broken_in_accesses(thread);
}

}  // namespace

const char* broken_invariant(const ProcessMeasurement& measurement) {
  if (const char* broken = broken_in_devices(measurement)) return broken;
  if (const char* broken = broken_in_waste(measurement)) return broken;
  uint64_t nodes = 0;
  for (const MeasuredThread& thread : measurement.threads) {
    if (const char* broken = broken_in_thread(thread)) return broken;
    nodes += thread.nodes.size() - 1;
  }
  // Recorded contexts take space, and no more are assumed lost than would have fitted.
  if (nodes > 2 * measurement.file_bytes / sizeof(hpcrun::NodeRecord))
    return "contexts are bounded by the file";
  return nullptr;
}

void forge_checksums(std::span<uint8_t> file) {
  using hpcrun::ExtentHeader;
  using hpcrun::FileHeader;
  if (file.size() >= sizeof(FileHeader)) {
    const uint32_t checksum = hpcrun::crc32c(0, file.data(), offsetof(FileHeader, checksum));
    std::memcpy(file.data() + offsetof(FileHeader, checksum), &checksum, sizeof checksum);
  }
  for (size_t at = 0; at + sizeof(ExtentHeader) <= file.size(); at += hpcrun::kPageBytes) {
    uint32_t magic;
    std::memcpy(&magic, file.data() + at, sizeof magic);
    if (magic != hpcrun::kExtentMagic) continue;
    uint8_t* field = file.data() + at + offsetof(ExtentHeader, header_checksum);
    std::memset(field, 0, sizeof(uint32_t));
    const uint32_t checksum = hpcrun::crc32c(0, file.data() + at, hpcrun::kExtentImmutableBytes);
    std::memcpy(field, &checksum, sizeof checksum);
    uint32_t length;
    std::memcpy(&length, file.data() + at + offsetof(ExtentHeader, length), sizeof length);
    if (length > file.size() - at - sizeof(ExtentHeader)) continue;
    const uint32_t payload = hpcrun::crc32c(hpcrun::crc32c(0, &length, sizeof length),
                                            file.data() + at + sizeof(ExtentHeader), length);
    std::memcpy(file.data() + at + offsetof(ExtentHeader, payload_checksum), &payload, sizeof payload);
  }
}

}  // namespace prof::test
