// The blame that the engine's core computes, for schedules whose every nanosecond is counted.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/device/counted_engine.h"

using namespace hpcrun;
using namespace hpcrun::test;

TEST_CASE("figure 2.4 with samples: the kernel gets the wait, samples after it the idleness") {
  Engine engine;
  Task* k = engine.submit(kStart);
  engine.sample(0, kStart + 10);  // S1, S2: nothing is blamed
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

TEST_CASE("host work in a call that may wait is no wait, whichever tasks run meanwhile") {
  // Two program builds during a kernel that ends after them. One computes for 80 of 100 µs, and reads files
  // in the rest. The other computes all the time.
  Engine engine;
  Task* task = engine.submit(kStart);
  engine.begin_wait(0, kStart + 100'000);
  engine.end_wait(0, kStart + 200'000, true, 80'000);
  engine.begin_wait(0, kStart + 200'000);
  engine.end_wait(0, kStart + 300'000, true, 100'000);
  engine.schedule.complete(task, kStart, kStart + 1'000'000, kStart + 1'000'000);
  // A release that sleeps until the kernel has ended, after some work.
  Task* next = engine.submit(kStart + 1'000'000);
  engine.begin_wait(0, kStart + 1'000'000);
  engine.end_wait(0, kStart + 1'100'000, true, 30'000);
  engine.schedule.complete(next, kStart + 1'000'000, kStart + 1'090'000, kStart + 1'100'000);
  engine.schedule.finish(kStart + 1'100'000);
  CHECK(engine.threads[0]->cpu_idle.value == 70'000);
  CHECK(engine.cause(0) == 0);
  CHECK(engine.cause(1) == 70'000);
  CHECK(engine.schedule.totals(0).cpu_waits == 70'000);
  CHECK(engine.schedule.totals(0).overlap == 1'020'000);
  REQUIRE(engine.threads[0]->parts.size() == 1);
}

TEST_CASE("a call that may work waits until the last task in it, as long as the thread did not work") {
  Engine engine;
  Task* first = engine.submit(kStart);
  Task* second = engine.submit(kStart);
  engine.begin_wait(0, kStart + 100);
  engine.end_wait(0, kStart + 200, true, 60);
  engine.schedule.complete(first, kStart, kStart + 140, kStart + 300);
  engine.schedule.complete(second, kStart + 150, kStart + 170, kStart + 300);
  engine.schedule.finish(kStart + 300);
  const Thread& thread = *engine.threads[0];
  CHECK(thread.cpu_idle.value == 40);  // from 130 to 170
  CHECK(engine.cause(0) == 10);
  CHECK(engine.cause(1) == 20);
  CHECK(thread.gap.value == 10);
  CHECK(engine.schedule.totals(0).overlap == 130);
}

TEST_CASE("where a driver spins as it waits, processor time tells nothing of calls in which tasks ended") {
  for (const bool spins : {false, true}) {
    Engine engine;
    Task* first = engine.submit(kStart);
    engine.begin_wait(0, kStart);
    engine.end_wait(0, kStart + 100, false, spins ? 100 : 5);
    engine.schedule.complete(first, kStart, kStart + 100, kStart + 100);
    engine.schedule.advance(kStart + 100);
    Task* second = engine.submit(kStart + 100);
    engine.begin_wait(0, kStart + 110);  // releases memory
    engine.end_wait(0, kStart + 160, true, 50);
    engine.schedule.complete(second, kStart + 100, kStart + 155, kStart + 160);
    Task* third = engine.submit(kStart + 200);
    engine.begin_wait(0, kStart + 210);  // loads a module, while an earlier task continues
    engine.end_wait(0, kStart + 240, true, 30);
    engine.schedule.complete(third, kStart + 200, kStart + 90'000, kStart + 90'000);
    engine.schedule.finish(kStart + 90'000);
    CHECK(engine.threads[0]->cpu_idle.value == 100 + (spins ? 45 : 0));
    CHECK(engine.cause(1) == (spins ? 45 : 0));
    CHECK(engine.cause(2) == 0);
  }
}

TEST_CASE("a long call that works is no wait either while it goes on and others launch") {
  Engine engine(2);
  Waiter& waiter = engine.threads[0]->waiter;
  static uint64_t cpu = 0;
  cpu = 0;
  waiter.cpu_time = [](void*) { return cpu; };
  waiter.wait.may_work = true;
  engine.begin_wait(0, kStart);
  ValueCell cause{};
  constexpr uint64_t kTasks = 300'000;
  uint64_t now = kStart;
  for (uint64_t i = 0; i < kTasks; ++i) {
    Task* task = engine.schedule.submit(0, 0, TaskKind::Kernel, now);
    task->idle_cause = &cause;
    now += 1'000;
    cpu += 900;  // of each 1,000 it sleeps 100
    engine.schedule.complete(task, now - 1'000, now, now);
    if (engine.schedule.is_due(now)) engine.schedule.advance(now);
  }
  engine.end_wait(0, now, true, cpu);
  engine.schedule.finish(now);
  CHECK(engine.threads[0]->cpu_idle.value == 100 * kTasks);
  CHECK(cause.value == 100 * kTasks);
  CHECK(engine.schedule.totals(0).cpu_waits == 100 * kTasks);
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

TEST_CASE("since when a device is at tasks that have not completed is known at any time") {
  Engine engine;
  const auto since = [&] { return engine.schedule.totals(0).under_way_since; };
  CHECK(since() == 0);
  Task* first = engine.submit(kStart + 10);
  Task* second = engine.submit(kStart + 20);
  CHECK(since() == kStart + 10);
  engine.schedule.complete(first, kStart + 15, kStart + 40, kStart + 50);
  CHECK(since() == kStart + 40);
  engine.schedule.complete(second, kStart + 40, kStart + 60, kStart + 70);
  CHECK(since() == 0);
  engine.submit(kStart + 90);
  CHECK(since() == kStart + 90);
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
  Task* const second = at_once(kStart + 1);  // a thread that was slightly slower
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
  CHECK(at_once(kStart + 51) == nullptr);  // no task is in progress: other threads have to be notified
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
