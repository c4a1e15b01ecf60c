#include "tests/measurement/synthetic.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/measurement/device_recorder.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("a synthetic measurement has the threads, samples and contexts that were asked for") {
  TemporaryDirectory directory;
  write_synthetic(directory / "a.prof", {.threads = 3, .samples = 20'000, .contexts = 5'000, .seed = 9});
  const ProcessMeasurement read = read_measurement(directory / "a.prof");
  CHECK(read.warnings.empty());
  REQUIRE(read.threads.size() == 3);
  REQUIRE(read.modules.size() == 2);
  for (const MeasuredModule& module : read.modules) CHECK(std::filesystem::exists(module.path));
  for (const MeasuredThread& thread : read.threads) {
    CHECK(thread.nodes.size() == 5'001);
    CHECK(whole_trace(thread).size() == 20'000);
    uint64_t value = 0;
    for (const MeasuredCell& cell : thread.cells) value += cell.value;
    CHECK(value == 20'000 * 1'000'000ull);
  }
}

TEST_CASE("a synthetic measurement has the device and the tasks that were asked for") {
  TemporaryDirectory directory;
  write_synthetic(directory / "a.prof",
                  {.threads = 2, .samples = 4'096, .contexts = 10, .queues = 2, .tasks = 1'000});
  const ProcessMeasurement read = read_measurement(directory / "a.prof");
  CHECK(read.warnings.empty());
  CHECK(read.devices.size() == 1);
  REQUIRE(read.queues.size() == 2);
  for (const MeasuredThread& track : read.threads) {
    if (track.kind != TrackKind::Queue) continue;
    const std::vector<DeviceTask> tasks = whole_tasks(track);
    REQUIRE(tasks.size() == 1'000);
    CHECK(tasks[0].thread == 0);
    CHECK(tasks[1].thread == 1);
    CHECK(tasks[1].submit_ns - tasks[0].submit_ns == 4'096'000);
    CHECK((tasks[1].start_ns < tasks[0].end_ns) == (track.index == 4));  // of the second queue
  }
}
