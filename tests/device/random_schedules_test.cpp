// The engine's core, compared with a count of every nanosecond in random schedules.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/device/counted_engine.h"
#include "tests/measurement/recorder.h"

using namespace hpcrun;
using namespace hpcrun::test;
using prof::test::Random;

namespace {

// A random run of threads that compute, submit and wait, with tasks that overlap and complete late.
struct Script {
  struct RanTask {
    uint64_t submit, start, end, known;
    QueueIndex queue;
    DeviceIndex device;
    Task* task;
    size_t which;  // index of the engine's causes
  };
  struct RanWait {
    int thread;
    uint64_t begin, end;
    int queue;  // or -1: all
  };
  std::vector<RanTask> tasks;
  std::vector<RanWait> waits;
  uint64_t end = 0;
};

Script play(Engine& engine, Random& random, int threads, int devices, int queues) {
  Script script;
  struct Event {
    uint64_t time;
    int kind;  // 0 submit, 1 complete, 2 begin wait, 3 end wait, 4 sample, 5 advance
    size_t which;
    int thread;
  };
  std::vector<Event> events;
  const uint64_t length = 2'000;
  for (int i = 0; i < 25; ++i) {
    Script::RanTask task{};
    task.submit = kStart + random.below(length);
    task.start = task.submit + random.below(60);
    task.end = task.start + random.below(150);
    task.known = task.end + (random.below(2) ? random.below(300) : 0);
    task.queue = static_cast<QueueIndex>(random.below(static_cast<uint64_t>(queues)));
    task.device = static_cast<DeviceIndex>(task.queue % devices);
    events.push_back({task.submit, 0, script.tasks.size(), 0});
    events.push_back({task.known, 1, script.tasks.size(), 0});
    script.tasks.push_back(task);
  }
  for (int thread = 0; thread < threads; ++thread) {
    uint64_t at = kStart + random.below(50);
    while (at < kStart + length) {
      const uint64_t kind = random.below(3);
      if (kind == 0) {
        const uint64_t wait_end = at + 1 + random.below(200);
        const int queue =
            random.below(2) ? -1 : static_cast<int>(random.below(static_cast<uint64_t>(queues)));
        events.push_back({at, 2, script.waits.size(), thread});
        events.push_back({wait_end, 3, script.waits.size(), thread});
        script.waits.push_back({thread, at, wait_end, queue});
        at = wait_end;
      } else {
        events.push_back({at, kind == 1 ? 4 : 5, 0, thread});
      }
      at += 1 + random.below(40);
    }
    events.push_back({kStart + length + 700, 4, 0, thread});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  for (const Event& event : events) {
    Script::RanTask* task = event.kind <= 1 ? &script.tasks[event.which] : nullptr;
    switch (event.kind) {
      case 0:
        task->task = engine.submit(event.time, task->queue, task->device);
        task->which = engine.causes.size() - 1;
        break;
      case 1:
        engine.schedule.complete(task->task, task->start, task->end, event.time);
        break;
      case 2:
        engine.begin_wait(event.thread, event.time);
        if (const int queue = script.waits[event.which].queue; queue >= 0)
          engine.scope(event.thread)
              .add_queue(static_cast<DeviceIndex>(queue % devices), static_cast<QueueIndex>(queue));
        break;
      case 3:
        engine.end_wait(event.thread, event.time);
        break;
      case 4:
        engine.sample(event.thread, event.time);
        break;
      default:
        engine.schedule.advance(event.time);
    }
    script.end = event.time;
  }
  engine.schedule.advance(script.end);
  return script;
}

}  // namespace

TEST_CASE("random schedules: blame, parts and idleness are those of counting every nanosecond") {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    const int threads = 1 + static_cast<int>(random.below(3));
    const int devices = 1 + static_cast<int>(random.below(2));
    const int queues = devices * (1 + static_cast<int>(random.below(2)));
    Engine engine(threads, devices);
    const Script script = play(engine, random, threads, devices, queues);

    std::vector<double> causes(script.tasks.size());
    std::vector<uint64_t> busy(static_cast<size_t>(devices)), overlap(busy), waited(busy);
    uint64_t idle = 0;
    for (uint64_t at = kStart; at < script.end; ++at) {
      for (size_t device = 0; device < busy.size(); ++device) {
        bool active = false, waits = false;
        for (const auto& task : script.tasks)
          active |= task.device == device && task.start <= at && at < task.end;
        for (const auto& wait : script.waits)
          waits |= (wait.queue < 0 || wait.queue % devices == static_cast<int>(device)) && wait.begin <= at &&
                   at < wait.end;
        busy[device] += active;
        overlap[device] += active && !waits;
        waited[device] += waits;
        idle += !active;
      }
    }
    std::vector<WaitParts> by_thread(static_cast<size_t>(threads));
    for (const auto& wait : script.waits) {
      PiecedWait parts;
      for (uint64_t at = wait.begin; at < wait.end; ++at) {
        std::vector<size_t> now;
        for (size_t i = 0; i < script.tasks.size(); ++i) {
          const auto& task = script.tasks[i];
          if (task.start <= at && at < task.end && (wait.queue < 0 || wait.queue == task.queue))
            now.push_back(i);
        }
        for (const size_t i : now) causes[i] += 1.0 / static_cast<double>(now.size());
        parts.add(now.empty() ? WaitParts{0, 0, 0, 1} : WaitParts{1, 0, 0, 0});
      }
      WaitParts& sum = by_thread[static_cast<size_t>(wait.thread)];
      sum.cause += parts.parts.cause;
      sum.launch_latency += parts.parts.launch_latency;
      sum.gap += parts.parts.gap;
      sum.wake_latency += parts.parts.wake_latency;
    }
    uint64_t blamed = 0, all_causes = 0;
    for (size_t i = 0; i < causes.size(); ++i) {
      const uint64_t cause = engine.cause(script.tasks[i].which);
      blamed += cause;
      REQUIRE(std::abs(static_cast<double>(cause) - causes[i]) <=
              static_cast<double>(script.waits.size()) * 2);
    }
    for (size_t i = 0; i < by_thread.size(); ++i) {
      const Thread& thread = *engine.threads[i];
      all_causes += by_thread[i].cause;
      REQUIRE(thread.cpu_idle.value == by_thread[i].total());
      REQUIRE(thread.latency.value == by_thread[i].launch_latency);
      REQUIRE(thread.gap.value == by_thread[i].gap);
      REQUIRE(thread.wake.value == by_thread[i].wake_latency);
      REQUIRE(all_idle(thread) == idle);  // each thread blames independently
    }
    REQUIRE(blamed == all_causes);
    for (size_t device = 0; device < busy.size(); ++device) {
      const DeviceTotals totals = engine.schedule.totals(static_cast<DeviceIndex>(device));
      REQUIRE(totals.busy == busy[device]);
      REQUIRE(totals.overlap == overlap[device]);
      REQUIRE(totals.cpu_waits == waited[device]);
      REQUIRE(totals.incomplete == 0);
    }
  }
}
