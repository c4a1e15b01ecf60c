#include "analysis/pipeline/devices.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "analysis/pipeline/common_time.h"
#include "analysis/pipeline/nanosecond.h"
#include "analysis/pipeline/run_times.h"
#include "hpcrun/measurement/device_metrics.h"

namespace prof {
namespace {

constexpr size_t kBlockTasks = 8 * 1024;

const MeasuredThread* track_of(const ProcessMeasurement& measurement, uint32_t index) {
  const auto at = std::ranges::lower_bound(measurement.threads, index, {}, &MeasuredThread::index);
  return at != measurement.threads.end() && at->index == index ? &*at : nullptr;
}

void add_totals(const MeasuredThread& track, DeviceUse& use) {
  using hpcrun::DeviceTotal;
  const std::pair<DeviceTotal, double*> times[] = {
      {DeviceTotal::Window, &use.window_s},     {DeviceTotal::Busy, &use.busy_s},
      {DeviceTotal::Kernels, &use.kernels_s},   {DeviceTotal::Copies, &use.copies_s},
      {DeviceTotal::Overlap, &use.overlap_s},   {DeviceTotal::CpuWaits, &use.cpu_waits_s},
      {DeviceTotal::Occupied, &use.occupied_s}, {DeviceTotal::Paused, &use.paused_s},
  };
  for (const MeasuredCell& cell : track.cells) {
    for (const auto& [total, out] : times)
      if (cell.metric == static_cast<uint16_t>(total)) *out += static_cast<double>(cell.value) * kNanosecond;
    if (cell.metric == static_cast<uint16_t>(DeviceTotal::Tasks)) use.tasks += cell.samples;
    if (cell.metric == static_cast<uint16_t>(DeviceTotal::Incomplete)) use.incomplete += cell.samples;
    if (cell.metric == static_cast<uint16_t>(DeviceTotal::KnownContexts)) use.known_contexts += cell.samples;
  }
}

// Adds tasks that never completed. A process that was killed, or that exited at once, may have ended after
// its totals were written.
void add_under_way(const MeasuredDevice& device, const MeasuredThread& track, const MeasuredProcess& process,
                   DeviceUse& use) {
  using hpcrun::DeviceTotal;
  uint64_t since = 0, written = device.first_use_ns;
  for (const MeasuredCell& cell : track.cells) {
    if (cell.metric == static_cast<uint16_t>(DeviceTotal::UnderWaySince)) since = cell.value;
    if (cell.metric == static_cast<uint16_t>(DeviceTotal::Window) ||
        cell.metric == static_cast<uint16_t>(DeviceTotal::Paused))
      written += cell.value;
  }
  if (since == 0) return;
  const uint64_t end = process.end_monotonic_ns != 0 ? written : std::max(written, process.seen_until_ns);
  use.window_s += static_cast<double>(end - written) * kNanosecond;
  const double length_s = end > since ? static_cast<double>(end - since) * kNanosecond : 0;
  use.under_way_s = std::clamp(use.window_s - std::max(use.busy_s, use.occupied_s), 0.0, length_s);
  use.incomplete = std::max<uint64_t>(use.incomplete, 1);
}

class TaskSource {
 public:
  TaskSource(const MeasuredThread& track, std::vector<uint32_t> context_of, const MeasuredProcess& process)
      : start_(track.tasks()),
        reader_(start_),
        context_of_(std::make_shared<const std::vector<uint32_t>>(std::move(context_of))),
        common_time_(process) {}

  bool operator()(std::vector<TraceRecord>& block) {
    block.clear();
    DeviceTask task;
    while (block.size() < 2 * kBlockTasks && reader_.next(task)) {
      if (task.stands_until_ns <= end_ns_) continue;
      const uint64_t start = std::max(task.stands_from_ns, end_ns_);
      if (end_ns_ != 0 && start > end_ns_) block.push_back({common_time_(end_ns_), kNone});
      block.push_back({common_time_(start), (*context_of_)[task.node]});
      end_ns_ = task.stands_until_ns;
    }
    if (block.empty() && end_ns_ != 0) {
      block.push_back({common_time_(end_ns_), kNone});
      end_ns_ = 0;
      return true;
    }
    if (!block.empty()) return true;
    reader_ = start_;
    return false;
  }

 private:
  RecordReader<DeviceTask> start_;
  RecordReader<DeviceTask> reader_;
  std::shared_ptr<const std::vector<uint32_t>> context_of_;
  CommonTime common_time_;
  uint64_t end_ns_ = 0;  // of the last task, whose end is not written yet
};

DeviceLaunch to_row(const QueueLaunches& queue, const DeviceTask& task, const CommonTime& common_time) {
  const std::vector<uint32_t>& threads = queue.profile_of_thread;
  return {queue.task_of[task.node],
          queue.profile,
          task.thread < threads.size() ? threads[task.thread] : kNone,
          common_time(task.submit_ns),
          common_time(task.start_ns),
          common_time(task.end_ns),
          task.is_sampled ? task.stands_until_ns - task.stands_from_ns : 0};
}

WaitForDevice to_row(const ThreadWaits& thread, const DeviceWait& wait, const CommonTime& common_time) {
  return {thread.call_of[wait.node], thread.profile, common_time(wait.begin_ns), common_time(wait.end_ns),
          wait.launch_latency_ns,    wait.gap_ns,    wait.wake_latency_ns};
}

// Reads the streams of several tracks, one track after another.
template <typename Row, typename What, typename Measured>
class RowsOfTracks {
 public:
  using Track = MeasuredTrack<What>;
  using Records = RecordReader<Measured> (MeasuredThread::*)() const;
  RowsOfTracks(std::vector<Track> tracks, Records records)
      : tracks_(std::make_shared<const std::vector<Track>>(std::move(tracks))), records_(records) {}

  bool operator()(std::vector<Row>& block) {
    block.clear();
    while (at_ < tracks_->size() && block.size() < kBlockTasks) {
      const Track& track = (*tracks_)[at_];
      if (!reader_) {
        const OpenedTrack opened = track.open();
        reader_ = (opened.track->*records_)();
        common_time_.emplace(opened.measurement->process);
      }
      Measured one;
      if (!reader_->next(one)) {
        reader_.reset();
        ++at_;
        continue;
      }
      block.push_back(to_row(track.what, one, *common_time_));
    }
    if (!block.empty()) return true;
    at_ = 0;
    return false;
  }

 private:
  std::shared_ptr<const std::vector<Track>> tracks_;
  Records records_;
  size_t at_ = 0;
  std::optional<RecordReader<Measured>> reader_;
  std::optional<CommonTime> common_time_;  // of the track being read
};

}  // namespace

LaunchSource launch_source(std::vector<MeasuredTrack<QueueLaunches>> queues) {
  return RowsOfTracks<DeviceLaunch, QueueLaunches, DeviceTask>(std::move(queues), &MeasuredThread::tasks);
}

DeviceWaitSource wait_source(std::vector<MeasuredTrack<ThreadWaits>> threads) {
  return RowsOfTracks<WaitForDevice, ThreadWaits, DeviceWait>(std::move(threads),
                                                              &MeasuredThread::device_waits);
}

ProfileId queue_id(const ProcessMeasurement& measurement, const MeasuredThread& track) {
  ProfileId id{measurement.process.host, measurement.process.rank, measurement.process.pid, -1, {}};
  int32_t queues = 0;  // of the same device, before this one
  const auto self = std::ranges::find(measurement.queues, track.index, &MeasuredQueue::track);
  for (const MeasuredQueue& queue : measurement.queues)
    queues += queue.device == self->device && queue.track < track.index;
  id.thread_name = self->name;
  id.device = self->device;
  id.queue = queues;
  return id;
}

uint64_t completed_tasks(const MeasuredThread& track) {
  uint64_t tasks = 0;
  for (const MeasuredCell& cell : track.cells)
    if (cell.metric == static_cast<uint16_t>(hpcrun::DeviceMetric::GpuExecutionTime)) tasks += cell.samples;
  return tasks;
}

std::vector<bool> launched_by_main_thread(const ProcessMeasurement& measurement,
                                          const MeasuredThread& track) {
  const auto roots_of = [&](bool main_thread) {
    std::set<uint64_t> roots;
    for (const MeasuredThread& thread : measurement.threads) {
      if (thread.kind != TrackKind::Thread || (thread.index == 0) != main_thread) continue;
      for (size_t node = 1; node < thread.nodes.size(); ++node)
        if (thread.nodes[node].parent == 0) roots.insert(thread.nodes[node].frame);
    }
    return roots;
  };
  const std::set<uint64_t> main = roots_of(true), others = roots_of(false);
  std::vector<bool> by_main(track.nodes.size(), true);
  for (size_t node = 1; node < track.nodes.size(); ++node) {
    const uint64_t frame = track.nodes[node].frame;
    if (track.nodes[node].parent == 0) by_main[node] = main.contains(frame) || !others.contains(frame);
  }
  return by_main;
}

std::vector<DeviceUse> device_uses(const ProcessMeasurement& measurement) {
  std::vector<DeviceUse> uses;
  for (const MeasuredDevice& device : measurement.devices) {
    DeviceUse use;
    use.host = measurement.process.host;
    use.rank = measurement.process.rank;
    use.process = measurement.process.pid;
    use.device = device.index;
    use.name = device.name;
    use.uuid = device.uuid;
    use.api = device.api;
    use.driver = device.driver;
    use.program_s = program_seconds(measurement).value_or(0);
    if (const MeasuredThread* track = track_of(measurement, device.track)) {
      add_totals(*track, use);
      add_under_way(device, *track, measurement.process, use);
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

TraceSource task_trace(const MeasuredThread& track, std::vector<uint32_t> context_of,
                       const MeasuredProcess& process) {
  return TaskSource(track, std::move(context_of), process);
}

}  // namespace prof
