#include "hpcrun/device/engine_state.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cassert>

#include "hpcrun/guest/fork_path.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/measurement/device_metrics.h"
#include "hpcrun/sample/sources.h"

namespace hpcrun {

constinit EngineState engine;

namespace {

std::atomic_flag engine_is_locked;

void set(CallingContextTree& tree, DeviceTotal total, uint64_t value, uint64_t samples) noexcept {
  ValueCell* const cell = tree.cell(kRootNode, static_cast<uint16_t>(total));
  if (!cell) return;
  std::atomic_ref(cell->value).store(value, std::memory_order_relaxed);
  std::atomic_ref(cell->samples).store(samples, std::memory_order_relaxed);
}

void receive_wait(void* receiver, const EndedWait& wait, const WaitParts& parts) noexcept {
  static_cast<DeviceThread*>(receiver)->waits.append(
      {wait.time.begin, wait.time.end, parts.launch_latency, parts.gap, parts.wake_latency}, wait.node);
}

uint64_t cpu_time_of(void* receiver) noexcept {
  return thread_cpu_ns(*static_cast<DeviceThread*>(receiver)->thread);
}

}  // namespace

void lock_engine() noexcept {
  while (engine_is_locked.test_and_set(std::memory_order_acquire)) raw_syscall(SYS_sched_yield);
}

HPCRUN_FORK_PATH void unlock_engine() noexcept {
  engine_is_locked.clear(std::memory_order_release);
}

bool is_engine_locked() noexcept {
  return engine_is_locked.test(std::memory_order_relaxed);
}

LaunchContexts* launch_contexts(DeviceThread& device) noexcept {
  assert(device.thread->busy);
  if (!device.contexts)
    device.contexts = static_cast<LaunchContexts*>(device.thread->arena.allocate(sizeof(LaunchContexts)));
  return device.contexts;
}

void admit_threads() noexcept {
  assert(is_engine_locked());
  DeviceThread* thread = device_arrivals.exchange(nullptr, std::memory_order_acquire);
  while (thread) {
    DeviceThread* const next = thread->next_arrival;
    if (process_state.config.trace)
      (void)thread->waits.attach(process_state.file, engine.arena, thread->thread->index);  // or no trace
    thread->waiter.receiver = thread;
    thread->waiter.receive = receive_wait;
    thread->waiter.cpu_time = cpu_time_of;
    engine.schedule.add_waiter(thread->waiter);
    thread = next;
  }
}

// If several pauses ended since the last call, the last one represents them all.
void note_pauses(uint64_t now) noexcept {
  assert(is_engine_locked());
  const PauseSwitch pause = process_state.file.pause_switch();
  const uint64_t over = pause.paused_ns(0), since = pause.paused_since();
  if (over > engine.pauses_over) {
    const uint64_t end = pause.resumed_at();
    engine.schedule.add_pause(end - std::min(end, over - engine.pauses_over), end);
    engine.pauses_over = over;
  }
  if (since && since < now) engine.schedule.add_pause(since, now);
}

// Counts the other processes, and removes dead ones, which takes a system call for each. Processes that join
// or leave signal it.
void count_others(uint64_t now) noexcept {
  constexpr uint64_t kCountedEachNs = 100'000'000;
  bool changed = false;
  for (uint16_t i = 0; i < engine.device_count; ++i) changed |= engine.shared[i].changed();
  if (!changed && engine.shared_checked && now < engine.shared_checked + kCountedEachNs) return;
  engine.shared_checked = now;
  uint32_t devices = 0;
  for (uint16_t i = 0; i < engine.device_count; ++i) devices += engine.shared[i].others() ? 1 : 0;
  engine.schedule.activity.others.store(devices, std::memory_order_relaxed);
}

void ask_others(uint64_t now, uint64_t until) noexcept {
  assert(is_engine_locked());
  count_others(now);
  const Interval window{engine.shared_until, until};
  if (window.begin >= window.end) return;
  engine.shared_until = until;
  if (!engine.schedule.activity.others.load(std::memory_order_relaxed)) return;
  for (uint16_t i = 0; i < engine.device_count; ++i) {
    engine.shared[i].for_each_work(
        window, [i](Interval work) { engine.schedule.add_others_work(i, work.begin, work.end); });
    engine.shared[i].for_each_wait(
        window, [i](Interval wait) { engine.schedule.add_others_wait(i, wait.begin, wait.end); });
  }
}

void advance_engine(uint64_t now) noexcept {
  admit_threads();
  note_pauses(now);
  ask_others(now, engine.schedule.horizon(now));
  engine.schedule.advance(now);
  write_totals(now);
}

void write_under_way(DeviceIndex device) noexcept {
  assert(is_engine_locked());
  set(engine.device_tracks[device].tree, DeviceTotal::UnderWaySince, engine.schedule.under_way_since(device),
      1);
}

void write_totals(uint64_t now) noexcept {
  assert(is_engine_locked());
  for (uint16_t i = 0; i < engine.device_count; ++i) {
    CallingContextTree& tree = engine.device_tracks[i].tree;
    const DeviceTotals totals = engine.schedule.totals(i);
    set(tree, DeviceTotal::Busy, totals.busy, totals.completed);
    set(tree, DeviceTotal::Kernels, totals.kernels, totals.completed);
    set(tree, DeviceTotal::Copies, totals.copies, totals.completed);
    set(tree, DeviceTotal::Overlap, totals.overlap, totals.completed);
    set(tree, DeviceTotal::CpuWaits, totals.cpu_waits, totals.completed);
    set(tree, DeviceTotal::Occupied, totals.occupied, totals.completed);
    set(tree, DeviceTotal::Paused, totals.paused, 1);
    set(tree, DeviceTotal::Window, now - totals.first_use - totals.paused, 1);
    set(tree, DeviceTotal::Tasks, totals.completed, totals.completed);
    set(tree, DeviceTotal::Incomplete, totals.incomplete, totals.incomplete);
    write_under_way(i);
    set(tree, DeviceTotal::KnownContexts, engine.known_contexts[i], engine.known_contexts[i]);
  }
}

}  // namespace hpcrun
