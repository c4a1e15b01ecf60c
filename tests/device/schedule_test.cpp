// The blame that the engine's core finds, against schedules whose every nanosecond is counted.
#include "hpcrun/device/schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "tests/measurement/recorder.h"

using namespace hpcrun;
using prof::test::Random;

namespace {

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
  void end_wait(int thread, uint64_t now, bool may_work = false) {
    Thread& at = *threads[static_cast<size_t>(thread)];
    const uint64_t begin = at.waiter.wait.begin;
    at.waiter.timeline.cut_open(at.arena, begin);
    at.waiter.timeline.cut(at.arena, schedule.activity, now, &at.idle_in_calls);
    schedule.end_wait(at.waiter, {{begin, now}, may_work, {&at.cpu_idle, &at.latency, &at.gap, &at.wake}, 0});
    at.waiter.wait.begin = 0;
  }
  void sample(int thread, uint64_t now) {
    Thread& at = *threads[static_cast<size_t>(thread)];
    at.waiter.timeline.cut(at.arena, schedule.activity, now, &at.idle_elsewhere);
  }
};

uint64_t all_idle(const Thread& thread) {
  return thread.idle_in_calls.value + thread.idle_elsewhere.value;
}

}  // namespace

TEST_CASE("figure 2.4 with samples: the kernel gets the wait, samples after it the idleness") {
  Engine engine;
  Task* k = engine.submit(kStart);
  engine.sample(0, kStart + 10);  // S1, S2: nobody is blamed
  engine.sample(0, kStart + 20);
  engine.begin_wait(0, kStart + 40);  // T2
  engine.scope(0).add_device(0);
  engine.end_wait(0, kStart + 60);  // T3
  CHECK(engine.schedule.complete(k, kStart + 5, kStart + 60, kStart + 61) == 35);
  engine.schedule.advance(kStart + 61);
  engine.sample(0, kStart + 70);  // S5, S6
  engine.sample(0, kStart + 80);
  engine.schedule.finish(kStart + 80);
  const Thread& thread = *engine.threads[0];
  CHECK(engine.cause(0) == 20);
  CHECK(thread.cpu_idle.value == 20);
  CHECK(all_idle(thread) == 25);  // launch latency of the kernel, and after its end
  CHECK(engine.schedule.totals(0).busy == 55);
  CHECK(engine.schedule.totals(0).overlap == 35);
  CHECK(engine.schedule.totals(0).cpu_waits == 20);
}

TEST_CASE("figure 2.5 with tasks that are known only after the wait") {
  Engine engine;
  Task* k1 = engine.submit(kStart);
  Task* k2 = engine.submit(kStart + 2);
  engine.begin_wait(0, kStart + 30);
  engine.end_wait(0, kStart + 97);
  engine.schedule.advance(kStart + 98);
  CHECK(engine.threads[0]->cpu_idle.value == 0);  // nothing is known yet
  engine.schedule.complete(k2, kStart + 50, kStart + 90, kStart + 99);
  engine.schedule.advance(kStart + 99);
  CHECK(engine.threads[0]->cpu_idle.value == 0);
  engine.schedule.complete(k1, kStart + 10, kStart + 50, kStart + 100);
  engine.schedule.advance(kStart + 100);
  CHECK(engine.threads[0]->cpu_idle.value == 67);
  CHECK(engine.threads[0]->wake.value == 7);
  CHECK(engine.cause(0) == 20);
  CHECK(engine.cause(1) == 40);
}

TEST_CASE("figure 2.6 over two queues, and a wait for one queue blames that queue alone") {
  for (const bool one_queue : {false, true}) {
    Engine engine;
    Task* k1 = engine.submit(kStart, 1);
    Task* k2 = engine.submit(kStart, 0);
    Task* k3 = engine.submit(kStart, 1);
    engine.begin_wait(0, kStart + 100);
    if (one_queue) engine.scope(0).add_queue(0, 1);
    engine.end_wait(0, kStart + 185);
    engine.schedule.complete(k1, kStart, kStart + 130, kStart + 190);
    engine.schedule.complete(k2, kStart + 110, kStart + 168, kStart + 190);
    engine.schedule.complete(k3, kStart + 160, kStart + 180, kStart + 190);
    engine.schedule.advance(kStart + 190);
    CHECK(engine.cause(0) == (one_queue ? 30 : 20));
    CHECK(engine.cause(1) == (one_queue ? 0 : 44));
    CHECK(engine.cause(2) == (one_queue ? 20 : 16));
    CHECK(engine.threads[0]->gap.value == (one_queue ? 30 : 0));
    CHECK(engine.threads[0]->wake.value == 5);
    CHECK(engine.threads[0]->idle_in_calls.value == 5);
  }
}

TEST_CASE("a wait for a task is one for all before it where the queue keeps order") {
  for (const bool in_order : {true, false}) {
    Engine engine;
    Task* first = engine.submit(kStart);
    Task* second = engine.submit(kStart);
    Task* third = engine.submit(kStart);
    engine.begin_wait(0, kStart);
    engine.scope(0).add_task(*second, in_order);
    engine.end_wait(0, kStart + 30);
    engine.schedule.complete(first, kStart, kStart + 10, kStart + 40);
    engine.schedule.complete(second, kStart + 10, kStart + 20, kStart + 40);
    engine.schedule.complete(third, kStart + 20, kStart + 40, kStart + 40);
    engine.schedule.advance(kStart + 40);
    CHECK(engine.cause(0) == (in_order ? 10 : 0));
    CHECK(engine.cause(1) == 10);
    CHECK(engine.cause(2) == 0);
    CHECK(engine.threads[0]->latency.value == (in_order ? 0 : 10));
    CHECK(engine.threads[0]->wake.value == 10);
    CHECK(engine.threads[0]->idle_in_calls.value == 0);  // the third was active
  }
}

TEST_CASE("threads that wait at once blame the same task independently") {
  Engine engine(2);
  Task* task = engine.submit(kStart);
  engine.begin_wait(0, kStart + 10);
  engine.begin_wait(1, kStart + 20);
  engine.end_wait(0, kStart + 50);
  engine.end_wait(1, kStart + 55);
  engine.schedule.complete(task, kStart, kStart + 50, kStart + 60);
  engine.schedule.advance(kStart + 60);
  CHECK(engine.cause(0) == 40 + 30);
  CHECK(engine.threads[1]->wake.value == 5);
  CHECK(engine.schedule.totals(0).cpu_waits == 45);
}

TEST_CASE("what a call that may work does after the last task is no wait") {
  Engine engine;
  Task* task = engine.submit(kStart);
  engine.begin_wait(0, kStart + 10);
  engine.end_wait(0, kStart + 100, true);
  engine.begin_wait(0, kStart + 110);  // allocates, and no task is active
  engine.end_wait(0, kStart + 150, true);
  engine.schedule.complete(task, kStart + 20, kStart + 40, kStart + 150);
  engine.schedule.finish(kStart + 150);
  const Thread& thread = *engine.threads[0];
  CHECK(thread.cpu_idle.value == 30);
  CHECK(thread.cpu_idle.samples == 1);
  CHECK(thread.latency.value == 10);
  CHECK(thread.wake.value == 0);
  CHECK(engine.cause(0) == 20);
  CHECK(thread.idle_in_calls.value == 10 + 60 + 10 + 40 + 10);
  CHECK(engine.schedule.totals(0).cpu_waits == 30);
}

TEST_CASE("tasks that never complete are counted, and time after their submission counts as busy") {
  Engine engine;
  Task* lost = engine.submit(kStart + 10);
  engine.schedule.lose(lost);
  engine.sample(0, kStart + 20);
  engine.submit(kStart + 30);
  engine.sample(0, kStart + 90);
  engine.schedule.finish(kStart + 100);
  CHECK(engine.threads[0]->idle_elsewhere.value == 30);
  CHECK(engine.schedule.totals(0).incomplete == 2);
}

TEST_CASE("only tasks that are under way are taken for such") {
  Engine engine;
  Task* task = engine.submit(kStart);
  CHECK(engine.schedule.is_under_way(task));
  engine.schedule.complete(task, kStart, kStart + 1, kStart + 1);
  CHECK_FALSE(engine.schedule.is_under_way(task));
  CHECK_FALSE(engine.schedule.is_under_way(reinterpret_cast<Task*>(&engine)));
  CHECK_FALSE(engine.schedule.is_under_way(nullptr));
}

TEST_CASE("other processes keep a device busy, and their waits blame our tasks") {
  Engine engine;
  Task* task = engine.submit(kStart);
  engine.schedule.add_others_work(0, kStart + 50, kStart + 70);
  engine.schedule.complete(task, kStart, kStart + 20, kStart + 20);
  engine.schedule.add_others_wait(0, kStart + 5, kStart + 60);
  engine.schedule.activity.others = 1;
  engine.sample(0, kStart + 100);
  engine.schedule.finish(kStart + 100);
  CHECK(engine.cause(0) == 15);
  CHECK(engine.threads[0]->idle_elsewhere.value == 60);
  CHECK(engine.schedule.totals(0).busy == 20);
}

TEST_CASE("what other processes did before this one used the device is not its concern") {
  Engine engine;
  engine.schedule.add_others_work(0, kStart - 900, kStart + 10);
  engine.schedule.activity.others = 1;
  engine.sample(0, kStart + 100);
  engine.schedule.finish(kStart + 100);
  CHECK(engine.threads[0]->idle_elsewhere.value == 90);
  CHECK(engine.schedule.totals(0).occupied == 10);
}

TEST_CASE("tasks that are submitted at once count as those that are submitted by the one caller") {
  Engine engine;
  Task* const first = engine.submit(kStart);
  Waiter& waiter = engine.threads[0]->waiter;
  const auto at_once = [&](uint64_t now) {
    return engine.schedule.submit_at_once(waiter.reserve, 0, 0, TaskKind::Kernel, now, [](Task&) {});
  };
  CHECK(at_once(kStart + 1) == nullptr);  // nothing is in reserve
  engine.schedule.fill(waiter.reserve);
  Task* const third = at_once(kStart + 2);
  Task* const second = at_once(kStart + 1);  // a thread that was a little slower
  REQUIRE(third);
  REQUIRE(second);
  CHECK(engine.schedule.is_under_way(third));
  CHECK(engine.schedule.under_way(0) == 3);
  CHECK(engine.schedule.horizon(kStart + 50) == kStart);
  engine.schedule.complete(first, kStart, kStart + 5, kStart + 50);
  CHECK(engine.schedule.horizon(kStart + 50) == kStart + 1);
  engine.schedule.complete(third, kStart + 20, kStart + 30, kStart + 50);
  CHECK(engine.schedule.horizon(kStart + 50) == kStart + 1);
  engine.schedule.discard(second);
  CHECK(engine.schedule.horizon(kStart + 50) == kStart + 50);
  CHECK(at_once(kStart + 51) == nullptr);  // nothing is under way: others have to be told
  engine.sample(0, kStart + 60);
  engine.schedule.finish(kStart + 60);
  CHECK(engine.threads[0]->idle_elsewhere.value == 60 - 5 - 10);
}

TEST_CASE("tasks are not kept for the length of another thread's wait") {
  Engine engine(2);
  const size_t before = engine.arena.bytes_mapped();
  engine.begin_wait(0, kStart);
  uint64_t now = kStart;
  constexpr uint64_t kTasks = 400'000;
  ValueCell cause{};
  for (uint64_t i = 0; i < kTasks; ++i) {
    Task* task = engine.schedule.submit(0, 0, TaskKind::Kernel, now);
    task->idle_cause = &cause;
    engine.schedule.complete(task, now, now + 700, now + 1'000);
    now += 1'000;
    if (engine.schedule.is_due(now)) engine.schedule.advance(now);
  }
  engine.end_wait(0, now);
  engine.schedule.advance(now);
  CHECK(cause.value == 700 * kTasks);
  CHECK(engine.threads[0]->cpu_idle.value == 1'000 * kTasks);
  CHECK(engine.threads[0]->gap.value == 300 * (kTasks - 1));
  CHECK(engine.threads[0]->idle_in_calls.value == 300 * kTasks);
  // 144 MB if all were kept.
  CHECK(engine.arena.bytes_mapped() - before < 40 * 1024 * 1024);
}

namespace {

// A random run of threads that compute, submit and wait, with tasks that overlap and complete late.
struct Script {
  struct RanTask {
    uint64_t submit, start, end, known;
    QueueIndex queue;
    DeviceIndex device;
    Task* task;
    size_t which;  // of the engine's causes
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

TEST_CASE("parts of a launch were submitted when it was, and it holds back what is known until it is gone") {
  Engine engine;
  Schedule& schedule = engine.schedule;
  Task* const graph = schedule.submit(0, 0, TaskKind::Kernel, kStart + 10);
  Task* const later = schedule.submit(0, 0, TaskKind::Kernel, kStart + 20);
  for (const uint64_t start : {kStart + 30, kStart + 50}) {
    Task* const part = schedule.submit_part(*graph, TaskKind::Kernel);
    REQUIRE(part);
    CHECK(part->serial == graph->serial);
    CHECK(part->submit == kStart + 10);
    schedule.complete(part, start, start + 10, kStart + 100);
  }
  CHECK(schedule.under_way(0) == 2);
  CHECK(schedule.horizon(kStart + 100) == kStart + 10);
  schedule.discard(graph);
  CHECK(schedule.horizon(kStart + 100) == kStart + 20);
  schedule.complete(later, kStart + 70, kStart + 80, kStart + 100);
  CHECK(schedule.horizon(kStart + 100) == kStart + 100);
  CHECK(schedule.totals(0).busy == 30);
  CHECK(schedule.totals(0).completed == 3);
  CHECK(schedule.totals(0).incomplete == 0);
}
