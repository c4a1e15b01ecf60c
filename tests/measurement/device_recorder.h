#pragma once
// Test support: tracks of devices and queues, and memory accesses, written by the runtime's own code.

#include <vector>

#include "hpcrun/cct/device_streams.h"
#include "hpcrun/measurement/device_metrics.h"
#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

// A queue, or the single track of a device, which has no tasks.
class RecordedTrack {
 public:
  RecordedTrack(hpcrun::MeasurementFile& file, uint32_t index, uint64_t period_ns = 0) : track(index) {
    if (!tree.attach(file, arena, index) || !tasks.attach(file, arena, index, period_ns))
      throw std::runtime_error("no memory for a track");
  }
  ~RecordedTrack() { arena.release_all(); }
  RecordedTrack(const RecordedTrack&) = delete;
  RecordedTrack& operator=(const RecordedTrack&) = delete;

  void seal() {
    tree.seal();
    tasks.seal();
  }

  uint32_t track;
  hpcrun::Arena arena;
  hpcrun::CallingContextTree tree;
  hpcrun::TaskStream tasks;
};

inline std::vector<DeviceTask> whole_tasks(const MeasuredThread& queue) {
  std::vector<DeviceTask> all;
  RecordReader<DeviceTask> reader = queue.tasks();
  for (DeviceTask task; reader.next(task);) all.push_back(task);
  return all;
}

inline std::vector<DeviceWait> whole_waits(const MeasuredThread& thread) {
  std::vector<DeviceWait> all;
  RecordReader<DeviceWait> reader = thread.device_waits();
  for (DeviceWait wait; reader.next(wait);) all.push_back(wait);
  return all;
}

inline std::vector<MeasuredAccess> whole_accesses(const MeasuredThread& thread) {
  std::vector<MeasuredAccess> all;
  RecordReader<MeasuredAccess> reader = thread.accesses();
  for (MeasuredAccess access; reader.next(access);) all.push_back(access);
  return all;
}

}  // namespace prof::test
