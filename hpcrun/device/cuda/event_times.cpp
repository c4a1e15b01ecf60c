#include "hpcrun/device/cuda/event_times.h"

#include <stdio.h>

#include <algorithm>
#include <atomic>

#include "hpcrun/device/cuda/event_pool.h"
#include "hpcrun/device/cuda/own_calls.h"
#include "hpcrun/guest/clock.h"

namespace hpcrun::cuda {

namespace {

constexpr uint64_t kCollectIntervalNs = 100'000'000;

// For work that cannot be left to another thread. The wait is limited, because the driver may never return to
// that thread.
constexpr uint64_t kCollectorTimeoutNs = 1'000'000'000;

constinit bool is_used = false;
constinit std::atomic<uint64_t> untimed{0};
constinit std::atomic<uint64_t> collected_ns{0};

// One thread collects at a time, calling the driver. Others do not wait for it: its results are for all.
constinit std::atomic_flag collecting;

class Collector {
 public:
  explicit Collector(uint64_t patience_ns = 0) noexcept {
    const uint64_t begin = patience_ns ? monotonic_ns() : 0;
    while (!(is_alone_ = !collecting.test_and_set(std::memory_order_acquire)) && patience_ns &&
           monotonic_ns() - begin < patience_ns)
      raw_syscall(SYS_sched_yield);
  }
  ~Collector() {
    if (is_alone_) collecting.clear(std::memory_order_release);
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  explicit operator bool() const noexcept { return is_alone_; }

 private:
  bool is_alone_ = false;
};

// Returns a free timing. Collecting frees those of tasks that have ended.
Timing* take_free_timing(CUcontext context) noexcept {
  if (Timing* timing = take_timing(context)) return timing;
  collect_event_times();
  return take_timing(context);
}

void attach(uint32_t id, Timing* timing) noexcept {
  const Locked locked(launch_lock);
  if (Launch* launch = launches.find(id)) launch->timing = timing;
}

Timing* timing_of(uint32_t id) noexcept {
  const Locked locked(launch_lock);
  const Launch* const launch = launches.find(id);
  return launch ? launch->timing : nullptr;
}

// Removes a launch whose times will not be known.
void give_up(uint32_t id) noexcept {
  Task* task = nullptr;
  {
    const Locked locked(launch_lock);
    Launch* const launch = launches.find(id);
    if (!launch) return;
    task = launch->task;
    launches.remove(launch->queue->launches, *launch);
  }
  untimed.fetch_add(1, std::memory_order_relaxed);
  complete(task, 0, 0);
}

uint64_t nanoseconds(float milliseconds) noexcept {
  return milliseconds > 0 ? static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6) : 0;
}

struct Interval {
  uint64_t start;
  uint64_t end;
};

// Adjusts times to what else is known: the task was submitted, it has ended, and it follows the stream's
// previous one.
Interval between(Interval task, uint64_t earliest, uint64_t latest) noexcept {
  if (task.end > latest) {
    const uint64_t late = task.end - latest;
    task = {task.start - std::min(late, task.start), latest};
  }
  if (task.start < earliest) task.end = std::min(latest, std::max(task.end, earliest));
  task.start = std::min(std::max(task.start, earliest), task.end);
  return task;
}

bool read_times(const Timing& timing, uint64_t seen_ns, uint64_t& last_end, Interval& out) noexcept {
  float since_epoch = 0;
  float length = 0;
  if (driver.event_elapsed(&since_epoch, timing.epoch->event, timing.begin) != CUDA_SUCCESS ||
      driver.event_elapsed(&length, timing.begin, timing.end) != CUDA_SUCCESS)
    return false;
  const uint64_t start = timing.epoch->ns + nanoseconds(since_epoch);
  out = between({start, start + nanoseconds(length)}, std::max(timing.submitted_ns, last_end),
                std::max(std::min(timing.latest_ns, seen_ns), last_end));
  last_end = out.end;
  return true;
}

Launch* first_timed(const Queue& queue) noexcept {
  const Locked locked(launch_lock);
  Launch* const launch = queue.launches.first;
  return launch && launch->timing && __atomic_load_n(&launch->timing->has_ended, __ATOMIC_ACQUIRE) ? launch
                                                                                                   : nullptr;
}

// Collects the first launch of the queue. Returns false if it has not ended, or if its context must not be
// used.
bool collect_first(Queue& queue, Launch& launch) noexcept {
  Timing& timing = *launch.timing;
  if (timing.context->is_suspended) return false;
  const InContext entered(timing.context->context);
  const CUresult result = driver.event_query(timing.end);
  if (result == CUDA_ERROR_NOT_READY) return false;
  Interval times{};
  const bool is_known = result == CUDA_SUCCESS && read_times(timing, monotonic_ns(), queue.last_end, times);
  Task* const task = launch.task;
  {
    const Locked locked(launch_lock);
    launches.remove(queue.launches, launch);
  }
  give_back(timing);
  if (!is_known) untimed.fetch_add(1, std::memory_order_relaxed);
  complete(task, times.start, times.end);
  return true;
}

// Must be called by the one collector.
void collect() noexcept {
  const OwnCalls own;
  for (Queue* queue = first_queue(); queue; queue = queue->next)
    while (Launch* launch = first_timed(*queue))
      if (!collect_first(*queue, *launch)) break;
}

// Drops the launches of a context whose events were destroyed. Must be called by the one collector.
void remove_launches(const EventContext& context) noexcept {
  for (Queue* queue = first_queue(); queue; queue = queue->next) {
    for (;;) {
      Launch* launch;
      Task* task = nullptr;
      {
        const Locked locked(launch_lock);
        launch = queue->launches.first;
        while (launch && (!launch->timing || launch->timing->context != &context)) launch = launch->next;
        if (launch) {
          task = launch->task;
          launches.remove(queue->launches, *launch);
        }
      }
      if (!launch) break;
      untimed.fetch_add(1, std::memory_order_relaxed);
      complete(task, 0, 0);
    }
  }
}

}  // namespace

bool start_event_times() noexcept {
  is_used = driver.context_current && driver.context_push && driver.context_pop && driver.context_device &&
            driver.primary_state && driver.stream_create && driver.stream_is_capturing &&
            driver.event_create && driver.event_record && driver.event_query && driver.event_elapsed &&
            driver.exchange_capture_mode;
  return is_used;
}

bool uses_event_times() noexcept {
  return is_used;
}

void begin_event_time(uint32_t id, CUcontext context, CUstream stream) noexcept {
  const OwnCalls own;
  Timing* const timing = take_free_timing(context);
  if (!timing) return;
  timing->has_ended = false;
  timing->submitted_ns = monotonic_ns();
  if (timing->epoch && driver.event_record(timing->begin, stream) == CUDA_SUCCESS) return attach(id, timing);
  give_back(*timing);
}

void end_event_time(uint32_t id, CUstream stream, uint64_t latest_ns) noexcept {
  Timing* const timing = timing_of(id);
  if (!timing) return give_up(id);
  timing->latest_ns = latest_ns;
  const OwnCalls own;
  if (driver.event_record(timing->end, stream) == CUDA_SUCCESS)
    return __atomic_store_n(&timing->has_ended, true, __ATOMIC_RELEASE);
  give_up(id);
  give_back(*timing);
}

void cancel_event_time(uint32_t id) noexcept {
  if (Timing* const timing = timing_of(id)) {
    attach(id, nullptr);
    give_back(*timing);
  }
}

void collect_event_times() noexcept {
  if (launches_under_way() == 0) return;
  if (const Collector alone; alone) {
    collected_ns.store(monotonic_ns(), std::memory_order_relaxed);
    collect();
  }
}

void collect_event_times_now_and_then() noexcept {
  const uint64_t now = monotonic_ns();
  uint64_t before = collected_ns.load(std::memory_order_relaxed);
  if (now - before < kCollectIntervalNs || !collected_ns.compare_exchange_strong(before, now)) return;
  collect_event_times();
}

void suspend_context(CUcontext context) noexcept {
  const Collector alone(kCollectorTimeoutNs);
  EventContext* const known = context ? find_event_context(context) : nullptr;
  if (!known) return;
  if (alone) collect();
  known->is_suspended = true;
}

void end_suspension(CUcontext context, bool is_destroyed) noexcept {
  const Collector alone(kCollectorTimeoutNs);
  EventContext* const known = context ? find_event_context(context) : nullptr;
  if (!known || !known->is_suspended) return;
  known->is_suspended = false;
  if (!is_destroyed || !alone) return;
  remove_launches(*known);
  remove_event_context(*known);
}

void finish_event_times() noexcept {
  if (launches_under_way() != 0) {
    if (const Collector alone(kCollectorTimeoutNs); alone) collect();
  }
  const uint64_t count = untimed.load();
  if (!count) return;
  char note[192];
  snprintf(note, sizeof note,
           "CUDA: %llu tasks could not be timed by events (too many at once, context destroyed, or driver "
           "error); device times exclude them",
           static_cast<unsigned long long>(count));
  note_degradation(note);
}

void reset_event_times_after_fork() noexcept {
  collecting.clear();
  reset_event_pool_after_fork();
  is_used = false;
}

}  // namespace hpcrun::cuda
