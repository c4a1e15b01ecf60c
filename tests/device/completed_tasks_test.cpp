#include "hpcrun/device/completed_tasks.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tests/device/counted_engine.h"
#include "tests/measurement/recorder.h"

using namespace hpcrun;
using namespace hpcrun::test;
using prof::test::Random;

TEST_CASE(
    "completed tasks are found by what they overlap, and leave by their end, in whatever order they come") {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Task> tasks(200);
    std::set<Task*> kept;
    CompletedTasks completed;
    uint64_t taken_until = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      Task& task = tasks[i];
      // Mostly in order, some far out of order, some long.
      task.start = random.below(10) == 0 ? taken_until + random.below(300) : taken_until + 100 + 2 * i;
      task.end = task.start + (random.below(20) == 0 ? 200 : random.below(6));
      completed.add(&task);
      kept.insert(&task);
      if (random.below(4) == 0) {
        const uint64_t begin = taken_until + random.below(600), end = begin + random.below(40);
        std::set<Task*> found, expected;
        completed.for_each_in({begin, end}, [&](Task* at) { REQUIRE(found.insert(at).second); });
        for (Task* at : kept)
          if (at->end > begin && at->start < end) expected.insert(at);
        REQUIRE(found == expected);
      }
      if (random.below(10) == 0) {
        taken_until += random.below(60);
        uint64_t last_end = 0;
        for (const Task* at = completed.take_ended_by(taken_until); at; at = at->next) {
          REQUIRE(at->end <= taken_until);
          REQUIRE(at->end >= last_end);
          last_end = at->end;
          REQUIRE(kept.erase(const_cast<Task*>(at)) == 1);
        }
        REQUIRE(std::ranges::none_of(kept, [&](Task* at) { return at->end <= taken_until; }));
      }
      REQUIRE(completed.count() == kept.size());
    }
  }
}

// With a step for each pair of tasks this would take minutes.
TEST_CASE("a million tasks that were all submitted before the first one ended cost as much each as a few") {
  Engine engine;
  constexpr uint64_t kTasks = 1'000'000;
  std::vector<Task*> tasks;
  ValueCell cause{};
  for (uint64_t i = 0; i < kTasks; ++i) {
    tasks.push_back(engine.schedule.submit(0, 0, TaskKind::Kernel, kStart + i));
    REQUIRE(tasks.back());
    tasks.back()->idle_cause = &cause;
  }
  uint64_t now = kStart + kTasks;
  engine.begin_wait(0, now);
  for (Task* task : tasks) {
    now += 1'000;
    if (!engine.schedule.is_under_way(task)) FAIL();
    engine.schedule.complete(task, now - 900, now - 100, now);
    if (engine.schedule.is_due(now)) engine.schedule.advance(now);
  }
  engine.end_wait(0, now);
  engine.schedule.finish(now);
  CHECK(cause.value == 800 * kTasks);
  CHECK(engine.threads[0]->gap.value == 200 * (kTasks - 1));
}
