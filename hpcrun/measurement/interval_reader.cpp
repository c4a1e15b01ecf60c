// Decodes tasks of device queues, waits of threads for devices, and accesses to shared memory
// (docs/formats.md, "Tasks", "Waits", "Accesses").

#include <algorithm>
#include <cstring>

#include "hpcrun/measurement/read_extents.h"
#include "hpcrun/measurement/read_varint.h"
#include "hpcrun/measurement/reader.h"
#include "hpcrun/measurement/task_sampling.h"

namespace prof {

IntervalReader MeasuredThread::intervals(
    const std::shared_ptr<const std::vector<TraceExtent>>& extents) const {
  IntervalReader reader;
  reader.file_ = file;
  reader.extents_ = extents;
  reader.quantum_ns_ = quantum_ns;
  reader.node_count_ = static_cast<uint32_t>(nodes.size());
  return reader;
}

RecordReader<DeviceTask> MeasuredThread::tasks() const {
  return RecordReader<DeviceTask>(intervals(task_extents));
}

RecordReader<DeviceWait> MeasuredThread::device_waits() const {
  return RecordReader<DeviceWait>(intervals(wait_extents));
}

RecordReader<MeasuredAccess> MeasuredThread::accesses() const {
  return RecordReader<MeasuredAccess>(intervals(access_extents));
}

bool IntervalReader::next(unsigned numbers, unsigned node_number, Record& out) {
  const uint64_t latest = UINT64_MAX / quantum_ns_;
  while (true) {
    if (next_ == end_) {
      if (extents_ == nullptr || next_extent_ == extents_->size()) return false;
      if (next_extent_ != 0) {
        const TraceExtent& done = (*extents_)[next_extent_ - 1];
        release_pages({done.payload, done.bytes});
      }
      const TraceExtent& extent = (*extents_)[next_extent_++];
      hpcrun::TraceStart start;
      std::memcpy(&start, extent.payload, sizeof start);
      if (start.time > latest) continue;
      time_ = start.time;
      node_ = start.node;
      period_ = start.period;
      next_ = extent.payload + sizeof start;
      end_ = extent.payload + extent.bytes;
      continue;
    }
    bool sound = true;
    for (unsigned i = 0; i < numbers && sound; ++i) sound = read_varint(next_, end_, out.numbers[i]);
    // The distance is forward or backward, and must stay within the range of time.
    const uint64_t coded = out.numbers[0] - 1;
    const uint64_t distance = (coded >> 1) + (coded & 1);
    sound = sound && out.numbers[0] != 0 && distance <= ((coded & 1) != 0 ? time_ : latest - time_);
    if (sound) {
      out.begin = (coded & 1) != 0 ? time_ - distance : time_ + distance;
      sound = out.numbers[1] <= latest - out.begin;
    }
    if (!sound) {  // the end of what was written, or damage
      next_ = end_;
      continue;
    }
    out.end = time_ = out.begin + out.numbers[1];
    node_ += unzigzag(out.numbers[node_number]);
    out.node = node_ < node_count_ ? node_ : 0;
    return true;
  }
}

template <>
bool RecordReader<DeviceTask>::next(DeviceTask& out) {
  IntervalReader::Record record;
  if (!intervals_.next(hpcrun::kTaskNumbers, 3, record)) return false;
  const uint64_t quantum = intervals_.quantum_ns_;
  out.submit_ns = (record.begin - std::min(record.begin, record.numbers[2])) * quantum;
  out.start_ns = record.begin * quantum;
  out.end_ns = record.end * quantum;
  out.node = record.node;
  const uint64_t period = intervals_.period_;
  out.thread = static_cast<uint32_t>(period != 0 ? record.numbers[4] / 2 : record.numbers[4]);
  out.is_sampled = period != 0 && record.numbers[4] % 2 == 1;
  out.stands_from_ns = out.start_ns;
  out.stands_until_ns = out.end_ns;
  if (out.is_sampled) {
    const hpcrun::SampledCells cells = hpcrun::sampled_cells(record.begin, record.end, period);
    const uint64_t latest = UINT64_MAX / quantum;
    out.stands_from_ns = std::min(cells.first * period, latest) * quantum;
    out.stands_until_ns = std::min((cells.first + cells.count) * period, latest) * quantum;
  }
  return true;
}

template <>
bool RecordReader<DeviceWait>::next(DeviceWait& out) {
  IntervalReader::Record record;
  if (!intervals_.next(hpcrun::kWaitNumbers, 5, record)) return false;
  uint64_t rest = record.end - record.begin;
  const auto part = [&](uint64_t number) {
    const uint64_t taken = std::min(number, rest);
    rest -= taken;
    return taken * intervals_.quantum_ns_;
  };
  out.begin_ns = record.begin * intervals_.quantum_ns_;
  out.end_ns = record.end * intervals_.quantum_ns_;
  out.launch_latency_ns = part(record.numbers[2]);
  out.gap_ns = part(record.numbers[3]);
  out.wake_latency_ns = part(record.numbers[4]);
  out.node = record.node;
  return true;
}

template <>
bool RecordReader<MeasuredAccess>::next(MeasuredAccess& out) {
  IntervalReader::Record record;
  if (!intervals_.next(hpcrun::kAccessNumbers, 5, record)) return false;
  out.time_ns = record.end * intervals_.quantum_ns_;
  out.weight_ns = (record.end - record.begin) * intervals_.quantum_ns_;
  out.address = record.numbers[2];
  out.bytes = record.numbers[3] / hpcrun::kAccessBits;
  out.bits = record.numbers[3] % hpcrun::kAccessBits;
  out.object = record.numbers[4];
  out.node = record.node;
  return true;
}

}  // namespace prof
