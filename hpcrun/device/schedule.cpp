#include "hpcrun/device/schedule.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace hpcrun {

namespace {

constexpr uint64_t kForever = ~uint64_t{0};

// Between these, completions are only recorded.
constexpr uint64_t kAdvanceNs = 1'000'000;
constexpr uint32_t kAdvanceTasks = 256;

// If there are more, open waits that overlap them are resolved as far as is known, so that tasks can be
// released.
constexpr uint32_t kMaxKeptTasks = 4096;

// Number of single intervals kept although everything before is resolved.
constexpr size_t kKeptIntervals = 16 * 1024;

// Further threads that wait at the same time do not shorten a task's overlap.
constexpr size_t kMaxOpenAtOnce = 64;

bool is_copy(TaskKind kind) noexcept {
  return kind != TaskKind::Kernel;
}

}  // namespace

void Schedule::add_device(DeviceIndex device, uint64_t now) noexcept {
  assert(arena_ && device < kMaxDevices);
  Device& added = devices_[device];
  added.first_use = now;
  added.paused_before = paused_.total();
  added.for_each_history([&](IntervalHistory& history) { history.attach(*arena_); });
  device_count_ = std::max<uint16_t>(device_count_, static_cast<uint16_t>(device + 1));
  // Pieces that began before are resolved from the device's own time.
  activity.last_end.store(std::max(now, activity.last_end.load()), std::memory_order_relaxed);
  activity.devices.store(device_count_, std::memory_order_release);
}

Task* Schedule::take_task() noexcept {
  if (Task* const task = free_tasks_) {
    free_tasks_ = task->next;
    return task;
  }
  if (!chunk_count_ || chunks_[chunk_count_ - 1].taken == chunks_[chunk_count_ - 1].count) {
    if (chunk_count_ == kMaxChunks) return nullptr;
    const uint32_t count =
        chunk_count_ ? std::min(2 * chunks_[chunk_count_ - 1].count, kMaxChunkTasks) : kFirstChunkTasks;
    Task* const tasks = arena_->allocate_array<Task>(count);
    if (!tasks) return nullptr;
    chunks_[chunk_count_++] = {tasks, count, 0};
  }
  Chunk& chunk = chunks_[chunk_count_ - 1];
  return new (chunk.tasks + chunk.taken++) Task{};
}

void Schedule::begin(Task& task, DeviceIndex device, QueueIndex queue, TaskKind kind, uint64_t now) noexcept {
  task = Task{};
  task.serial = last_serial_.fetch_add(1, std::memory_order_relaxed) + 1;
  task.submit = now;
  task.device = device;
  task.queue = queue;
  task.kind = kind;
  task.under_way = true;
  activity.outstanding.fetch_add(1, std::memory_order_relaxed);
}

// Inserts by submission time: threads that submit at once may hand in their tasks in another order.
void Schedule::link_under_way(Task* task) noexcept {
  Task* after = last_under_way_;
  while (after && after->submit > task->submit) after = after->previous;
  task->previous = after;
  task->next = after ? after->next : first_under_way_;
  (after ? after->next : first_under_way_) = task;
  (task->next ? task->next->previous : last_under_way_) = task;
}

Task* Schedule::submit(DeviceIndex device, QueueIndex queue, TaskKind kind, uint64_t now) noexcept {
  admit_tasks();
  Task* const task = take_task();
  if (!task) return nullptr;
  begin(*task, device, queue, kind, now);
  if (!devices_[device].under_way.fetch_add(1, std::memory_order_relaxed))
    devices_[device].occupied_since = now;
  link_under_way(task);
  return task;
}

Task* Schedule::submit_part(const Task& launch, TaskKind kind) noexcept {
  admit_tasks();
  assert(launch.under_way);
  Task* const task = take_task();
  if (!task) return nullptr;
  begin(*task, launch.device, launch.queue, kind, launch.submit);
  task->serial = launch.serial;
  task->thread = launch.thread;
  task->next = launch.next;
  task->previous = const_cast<Task*>(&launch);
  (launch.next ? launch.next->previous : last_under_way_) = task;
  task->previous->next = task;
  devices_[launch.device].under_way.fetch_add(1, std::memory_order_relaxed);
  return task;
}

// Returns false if nothing is under way: the work must then be announced to other processes, which only the
// one caller can do.
bool Schedule::add_to_those_under_way(Device& device) noexcept {
  uint32_t count = device.under_way.load(std::memory_order_relaxed);
  while (count)
    if (device.under_way.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return true;
  return false;
}

void Schedule::hand_in(Task& task) noexcept {
  Task* first = arrivals_.load(std::memory_order_relaxed);
  do task.next = first;
  while (
      !arrivals_.compare_exchange_weak(first, &task, std::memory_order_release, std::memory_order_relaxed));
}

void Schedule::admit_tasks() noexcept {
  if (!arrivals_.load(std::memory_order_relaxed)) return;
  Task* arrived = arrivals_.exchange(nullptr, std::memory_order_acquire);
  Task* first = nullptr;
  while (arrived) {
    Task* const next = arrived->next;
    arrived->next = first;
    first = arrived;
    arrived = next;
  }
  while (first) {
    Task* const next = first->next;
    link_under_way(first);
    first = next;
  }
}

void Schedule::fill(TaskReserve& reserve) noexcept {
  constexpr int kReserved = 32;
  for (int i = 0; i < kReserved; ++i) {
    Task* const task = take_task();
    if (!task) return;
    task->next = reserve.first;
    reserve.first = task;
  }
}

bool Schedule::is_under_way(const Task* task) noexcept {
  admit_tasks();
  const auto address = reinterpret_cast<uintptr_t>(task);
  for (uint32_t i = chunk_count_; i-- > 0;) {
    const auto tasks = reinterpret_cast<uintptr_t>(chunks_[i].tasks);
    if (address >= tasks && address < tasks + chunks_[i].taken * sizeof(Task))
      return (address - tasks) % sizeof(Task) == 0 && task->under_way;
  }
  return false;
}

void Schedule::release(Task* task) noexcept {
  task->under_way = false;
  task->next = free_tasks_;
  free_tasks_ = task;
}

void Schedule::unlink_under_way(Task* task) noexcept {
  assert(task->under_way);
  (task->previous ? task->previous->next : first_under_way_) = task->next;
  (task->next ? task->next->previous : last_under_way_) = task->previous;
  task->under_way = false;
  devices_[task->device].under_way.fetch_sub(1, std::memory_order_release);
  activity.outstanding.fetch_sub(1, std::memory_order_release);
}

void Schedule::discard(Task* task) noexcept {
  admit_tasks();
  unlink_under_way(task);
  release(task);
}

void Schedule::lose(Task* task) noexcept {
  ++devices_[task->device].lost;
  discard(task);
}

// Returns the wait so far of an open call. If the call may also work, the time that the thread did not work
// is assumed to be at its end.
Interval Schedule::waited_so_far(const Waiter& waiter, uint64_t begin, uint64_t now) const noexcept {
  const uint64_t end = waiter.wait.end.load(std::memory_order_relaxed);
  const Interval open{begin, end ? end : now};
  if (!waiter.wait.may_work.load(std::memory_order_relaxed) || !waiter.cpu_time || waits_spin()) return open;
  const uint64_t worked =
      waiter.cpu_time(waiter.receiver) - waiter.wait.cpu_begin.load(std::memory_order_relaxed);
  return {open.begin + std::min(worked, open.end - std::min(open.begin, open.end)), open.end};
}

uint64_t Schedule::time_without_waits(const Task& task, uint64_t now) const noexcept {
  const IntervalHistory& waits = devices_[task.device].waits;
  Interval open[kMaxOpenAtOnce];
  size_t count = 0;
  for (const Waiter* waiter = waiters_; waiter && count < kMaxOpenAtOnce; waiter = waiter->next) {
    const uint64_t begin = waiter->wait.begin.load(std::memory_order_acquire);
    if (!begin || !waiter->wait.scope.has_device(task.device)) continue;
    const Interval waited = waited_so_far(*waiter, begin, now);
    open[count++] = {std::max(waited.begin, task.start), std::min(waited.end, task.end)};
  }
  count = unite(open, count);
  uint64_t waited = waits.covered(task.start, task.end);
  for (size_t i = 0; i < count; ++i)
    waited += open[i].end - open[i].begin - waits.covered(open[i].begin, open[i].end);
  return task.end - task.start - waited;
}

uint64_t Schedule::complete(Task* task, uint64_t start, uint64_t end, uint64_t now) noexcept {
  admit_tasks();
  Device& device = devices_[task->device];
  // Converted clocks may be off by a little.
  task->start = std::clamp(start, task->submit, now);
  task->end = std::clamp(end, task->start, now);
  ++device.completed;
  device.last_end = std::max(device.last_end, task->end);
  device.busy.add(task->start, task->end);
  device.occupied.add(task->start, task->end);
  device.either.add(task->start, task->end);
  (is_copy(task->kind) ? device.copies : device.kernels).add(task->start, task->end);
  const uint64_t overlap = time_without_waits(*task, now);
  if (task->end > activity.last_end.load(std::memory_order_relaxed))
    activity.last_end.store(task->end, std::memory_order_relaxed);
  unlink_under_way(task);
  completed_.add(task);
  ++since_advance_;
  return overlap;
}

// Releases tasks that no wait can overlap any more.
void Schedule::release_tasks(uint64_t until) noexcept {
  for (const Wait* wait = first_wait_; wait; wait = wait->next) until = std::min(until, wait->since);
  for (const Waiter* waiter = waiters_; waiter; waiter = waiter->next)
    if (const uint64_t begin = waiter->wait.begin.load(std::memory_order_acquire))
      until = std::min(until, begin == waiter->resolved_begin ? waiter->resolved_until : begin);
  Task* task = completed_.take_ended_by(until);
  while (task) {
    Task* const next = task->next;
    release(task);
    task = next;
  }
}

// Returns how long devices have been idle by `time`, summed over devices. Time that is not known yet counts
// as busy.
uint64_t Schedule::idle_before(uint64_t time, uint64_t known) const noexcept {
  time = std::min(time, known);
  uint64_t idle = 0;
  for (uint16_t i = 0; i < device_count_; ++i) {
    const Device& device = devices_[i];
    if (time <= device.first_use) continue;
    const uint64_t used = time - device.first_use;
    idle += used - std::min(used, device.occupied.covered_before(time));
  }
  return idle;
}

void Schedule::remove_until(uint64_t until) noexcept {
  bool is_due = false;
  for (uint16_t i = 0; i < device_count_; ++i)
    is_due |= std::max({devices_[i].occupied.count(), devices_[i].waits.count(),
                        devices_[i].either.count()}) > kKeptIntervals;
  if (!is_due) return;
  const auto idle = [&](uint64_t time) { return idle_before(time, kForever); };
  for (Waiter* waiter = waiters_; waiter; waiter = waiter->next)
    until = std::min(until, waiter->timeline.needs_since(idle));
  for (const Wait* wait = first_wait_; wait; wait = wait->next) until = std::min(until, wait->since);
  for (uint16_t i = 0; i < device_count_; ++i)
    devices_[i].for_each_history([&](IntervalHistory& history) { history.remove_before(until); });
}

bool Schedule::is_due(uint64_t now) const noexcept {
  return since_advance_ >= kAdvanceTasks || now > advanced_ + kAdvanceNs;
}

void Schedule::advance(uint64_t now) noexcept {
  const uint64_t until = horizon(now);
  resolve_waits(until, nullptr);
  if (completed_.count() > kMaxKeptTasks) resolve_open_waits(now, until);
  for (Waiter* waiter = waiters_; waiter; waiter = waiter->next)
    waiter->timeline.resolve(until, [&](uint64_t time) { return idle_before(time, kForever); });
  release_tasks(until);
  remove_until(until);
  advanced_ = now;
  since_advance_ = 0;
}

void Schedule::finish(uint64_t now) noexcept {
  advance(now);
  while (waiters_) remove_waiter(*waiters_);
}

void Schedule::add_pause(uint64_t begin, uint64_t end) noexcept {
  paused_.add(begin, end);
  for (uint16_t i = 0; i < device_count_; ++i)
    devices_[i].for_each_history(
        [&](IntervalHistory& history) { history.add(std::max(begin, devices_[i].first_use), end); });
}

void Schedule::add_others_work(DeviceIndex device, uint64_t begin, uint64_t end) noexcept {
  // Excludes the time before this process used the device.
  devices_[device].occupied.add(std::max(begin, devices_[device].first_use), end);
}

void Schedule::add_others_wait(DeviceIndex device, uint64_t begin, uint64_t end) noexcept {
  Scope scope;
  scope.add_device(device);
  PiecedWait parts;
  blame(scope, {begin, end}, parts);
}

uint64_t Schedule::under_way_since(DeviceIndex index) const noexcept {
  const Device& device = devices_[index];
  if (!device.under_way.load(std::memory_order_relaxed)) return 0;
  return std::max(device.occupied_since, device.last_end);
}

DeviceTotals Schedule::totals(DeviceIndex index) const noexcept {
  const Device& device = devices_[index];
  DeviceTotals totals;
  totals.first_use = device.first_use;
  totals.paused = paused_.total() - device.paused_before;
  const auto measured = [&](const IntervalHistory& history) {
    return history.total() - std::min(history.total(), totals.paused);
  };
  totals.busy = measured(device.busy);
  totals.kernels = measured(device.kernels);
  totals.copies = measured(device.copies);
  totals.cpu_waits = measured(device.waited);
  totals.occupied = measured(device.occupied);
  totals.overlap = device.either.total() - device.waited.total();
  totals.completed = device.completed;
  totals.under_way_since = under_way_since(index);
  totals.incomplete = device.lost + device.under_way.load(std::memory_order_relaxed);
  return totals;
}

}  // namespace hpcrun
