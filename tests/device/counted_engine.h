#pragma once
// The schedule with threads and cells to add to, for tests that count every nanosecond.

#include <memory>
#include <vector>

#include "hpcrun/device/schedule.h"

namespace hpcrun::test {

constexpr uint64_t kStart = 1'000;

struct Thread {
  Waiter waiter;
  Arena arena;
  ValueCell cpu_idle{}, latency{}, gap{}, wake{}, idle_in_calls{}, idle_elsewhere{};
  std::vector<WaitParts> parts;

  Thread() {
    waiter.receiver = this;
    waiter.receive = [](void* self, const EndedWait&, const WaitParts& received) {
      static_cast<Thread*>(self)->parts.push_back(received);
    };
  }
  ~Thread() { arena.release_all(); }
};

struct Engine {
  Arena arena;
  Schedule schedule;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<std::unique_ptr<ValueCell>> causes;

  explicit Engine(int thread_count = 1, int devices = 1) {
    schedule.attach(arena);
    for (int i = 0; i < devices; ++i) schedule.add_device(static_cast<DeviceIndex>(i), kStart);
    for (int i = 0; i < thread_count; ++i) {
      threads.push_back(std::make_unique<Thread>());
      threads.back()->waiter.timeline.begin(kStart);
      schedule.add_waiter(threads.back()->waiter);
    }
  }
  ~Engine() { arena.release_all(); }

  Task* submit(uint64_t now, QueueIndex queue = 0, DeviceIndex device = 0, TaskKind kind = TaskKind::Kernel) {
    Task* task = schedule.submit(device, queue, kind, now);
    causes.push_back(std::make_unique<ValueCell>());
    task->idle_cause = causes.back().get();
    return task;
  }
  uint64_t cause(size_t task) const { return causes[task]->value; }

  void begin_wait(int thread, uint64_t now) {
    Thread& at = *threads[static_cast<size_t>(thread)];
    at.waiter.wait.scope.clear();
    at.waiter.wait.end = 0;
    at.waiter.wait.begin = now;
  }
  Scope& scope(int thread) { return threads[static_cast<size_t>(thread)]->waiter.wait.scope; }
  void end_wait(int thread, uint64_t now, bool may_work = false, uint64_t worked = 0) {
    Thread& at = *threads[static_cast<size_t>(thread)];
    const uint64_t begin = at.waiter.wait.begin;
    at.waiter.timeline.cut_open(at.arena, begin);
    at.waiter.timeline.cut(at.arena, schedule.activity, now, &at.idle_in_calls);
    schedule.end_wait(at.waiter,
                      {{begin, now}, may_work, worked, {&at.cpu_idle, &at.latency, &at.gap, &at.wake}, 0});
    at.waiter.wait.begin = 0;
  }
  void sample(int thread, uint64_t now) {
    Thread& at = *threads[static_cast<size_t>(thread)];
    at.waiter.timeline.cut(at.arena, schedule.activity, now, &at.idle_elsewhere);
  }
};

inline uint64_t all_idle(const Thread& thread) {
  return thread.idle_in_calls.value + thread.idle_elsewhere.value;
}

}  // namespace hpcrun::test
