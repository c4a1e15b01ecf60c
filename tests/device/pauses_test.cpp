// Pauses of measuring: device and thread activity in them does not count.
#include <catch2/catch.hpp>

#include "tests/device/counted_engine.h"

using namespace hpcrun;
using namespace hpcrun::test;

TEST_CASE("a pause counts neither as work nor as idleness, nor as a wait") {
  Engine engine;
  Task* const task = engine.submit(kStart);
  engine.begin_wait(0, kStart + 20);
  engine.schedule.add_pause(kStart + 30, kStart + 45);
  engine.schedule.add_pause(kStart + 30, kStart + 50);  // it continued
  engine.end_wait(0, kStart + 80);
  CHECK(engine.schedule.complete(task, kStart + 10, kStart + 60, kStart + 80) == 10);
  engine.schedule.advance(kStart + 80);
  engine.sample(0, kStart + 100);
  engine.schedule.finish(kStart + 100);

  const Thread& thread = *engine.threads[0];
  CHECK(thread.cpu_idle.value == 40);
  CHECK(engine.cause(0) == 20);
  CHECK(thread.wake.value == 20);
  CHECK(thread.idle_in_calls.value ==
        10 + 20);  // before the task began, which precedes the call, and during it
  CHECK(thread.idle_elsewhere.value == 20);
  const DeviceTotals totals = engine.schedule.totals(0);
  CHECK(totals.paused == 20);
  CHECK(totals.busy == 30);
  CHECK(totals.occupied == 30);
  CHECK(totals.kernels == 30);
  CHECK(totals.copies == 0);
  CHECK(totals.cpu_waits == 40);
  CHECK(totals.overlap == 10);
}

TEST_CASE("a pause that covers tasks and idleness leaves nothing of them") {
  Engine engine;
  Task* const task = engine.submit(kStart);
  engine.schedule.add_pause(kStart + 5, kStart + 90);
  CHECK(engine.schedule.complete(task, kStart + 10, kStart + 60, kStart + 80) == 0);
  engine.threads[0]->waiter.timeline.cut_across_pause(engine.arena, kStart + 100,
                                                      &engine.threads[0]->idle_elsewhere);
  engine.schedule.finish(kStart + 100);
  CHECK(engine.threads[0]->idle_elsewhere.value == 15);
  CHECK(engine.schedule.totals(0).busy == 0);
  CHECK(engine.schedule.totals(0).paused == 85);
  CHECK(engine.schedule.was_paused(kStart + 5));
  CHECK_FALSE(engine.schedule.was_paused(kStart + 90));
}

TEST_CASE("of pauses only what lies after a device's first use is its own") {
  Engine engine;
  engine.schedule.add_pause(kStart + 10, kStart + 30);
  engine.schedule.add_pause(kStart + 50, kStart + 60);  // continues as the second one is used first
  engine.schedule.add_device(1, kStart + 60);
  engine.schedule.add_pause(kStart + 50, kStart + 75);
  CHECK(engine.schedule.totals(0).paused == 45);
  CHECK(engine.schedule.totals(1).paused == 15);
  CHECK(engine.schedule.totals(1).busy == 0);
}

TEST_CASE("waits over many pauses are blamed for what lies between them") {
  Engine engine;
  Task* const task = engine.submit(kStart);
  engine.begin_wait(0, kStart);
  for (uint64_t i = 0; i < 1000; ++i) engine.schedule.add_pause(kStart + 10 * i + 4, kStart + 10 * i + 10);
  engine.end_wait(0, kStart + 10'000);
  engine.schedule.complete(task, kStart + 2, kStart + 9'990, kStart + 10'000);
  engine.schedule.finish(kStart + 10'000);
  CHECK(engine.threads[0]->latency.value == 2);
  CHECK(engine.cause(0) == 4 * 999 - 2);
  CHECK(engine.threads[0]->wake.value == 4);
}
