#include "hpcrun/cct/device_streams.h"

#include <algorithm>
#include <utility>

#include "hpcrun/cct/interval_stream.h"
#include "hpcrun/measurement/task_sampling.h"

namespace hpcrun {
namespace {

// Number of recent tasks that determine the rate of tasks. Low enough to notice a phase of short tasks soon,
// and higher than the number that come together by chance.
constexpr size_t kTasksOfRate = 16;

constexpr uint64_t not_negative(uint64_t later, uint64_t earlier) {
  return later - std::min(later, earlier);
}

}  // namespace

struct TaskStream::State : IntervalStream {
  uint64_t ends[kTasksOfRate];  // of the last tasks, in quanta
  uint64_t tasks;

  bool come_fast(uint64_t end_of_task) noexcept {
    uint64_t& oldest = ends[tasks++ % kTasksOfRate];
    const uint64_t since = std::exchange(oldest, end_of_task);
    return tasks > kTasksOfRate && end_of_task < since + kTasksOfRate * period;
  }
};
struct WaitStream::State : IntervalStream {};

bool TaskStream::attach(MeasurementFile& file, Arena& arena, uint32_t line, uint64_t period_ns) noexcept {
  state_ = make_interval_stream<State>(file, arena, StreamKind::Tasks, line);
  if (state_ == nullptr) return false;
  if (period_ns != 0)
    state_->period = static_cast<uint32_t>(std::clamp<uint64_t>(quanta(period_ns), 1, UINT32_MAX));
  return true;
}

bool TaskStream::append(const TaskTimes& times, NodeId node, uint32_t thread) noexcept {
  const uint64_t start = quanta(times.start_ns);
  const uint64_t end = std::max(start, quanta(times.end_ns));
  if (state_ == nullptr) return false;
  uint64_t submitter = thread;
  if (state_->period != 0) {
    const bool is_sampled = state_->come_fast(end);
    if (is_sampled && sampled_cells(start, end, state_->period).count == 0) return true;
    submitter = 2 * submitter + (is_sampled ? 1 : 0);
  }
  if (!state_->make_room(start)) return false;
  state_->append({state_->begin_delta(start), end - start, not_negative(start, quanta(times.submit_ns)),
                  state_->node_delta(node), submitter},
                 end, node);
  return true;
}

void TaskStream::seal() noexcept {
  if (state_ != nullptr) state_->seal();
}

bool WaitStream::attach(MeasurementFile& file, Arena& arena, uint32_t thread) noexcept {
  state_ = make_interval_stream<State>(file, arena, StreamKind::Waits, thread);
  return state_ != nullptr;
}

bool WaitStream::append(const WaitTimes& times, NodeId node) noexcept {
  const uint64_t begin = quanta(times.begin_ns);
  const uint64_t end = std::max(begin, quanta(times.end_ns));
  if (state_ == nullptr || !state_->make_room(begin)) return false;
  state_->append({state_->begin_delta(begin), end - begin, quanta(times.launch_latency_ns),
                  quanta(times.gap_ns), quanta(times.wake_latency_ns), state_->node_delta(node)},
                 end, node);
  return true;
}

void WaitStream::seal() noexcept {
  if (state_ != nullptr) state_->seal();
}

}  // namespace hpcrun
