#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/pipeline/pipeline.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/device_program.h"

using namespace prof;
using namespace prof::test;

namespace {

Analysis device_program(const TemporaryDirectory& directory) {
  write_device_program(directory / "a.prof");
  return analyze({directory.path()});
}

uint32_t metric(const Database& database, const std::string& name) {
  for (uint32_t m = 0; m < database.metrics.size(); ++m)
    if (database.metrics[m].name == name) return m;
  FAIL("no metric " << name);
  return 0;
}

template <typename Row>
std::vector<Row> whole(const std::function<bool(std::vector<Row>&)>& source) {
  std::vector<Row> all, block;
  std::function<bool(std::vector<Row>&)> next = source;
  while (next(block)) all.insert(all.end(), block.begin(), block.end());
  return all;
}

}  // namespace

TEST_CASE("a queue is a profile whose kernels hang under the calls that launched them") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  const Database& database = analysis.database;
  CHECK(analysis.warnings.empty());
  REQUIRE(database.profiles.size() == 2);
  CHECK(database.profiles[0].id.thread == 0);
  CHECK(database.profiles[0].id.device == -1);
  const ProfileId& id = database.profiles[1].id;
  CHECK(id.thread == -1);
  CHECK(id.device == 0);
  CHECK(id.queue == 0);
  CHECK(id.thread_name == "queue 1");
  CHECK(database.profiles[1].samples == 2 * kSteps);

  const FixturePlaces places = fixture_places();
  const std::string launch = "main thread" + places.outer_path + places.plain_path;
  const auto times = values_by_path(database, database.profiles[1], metric(database, "GPU_EXECUTION_TIME"));
  REQUIRE(times.contains(launch + "/KernelM"));
  CHECK(times.at(launch + "/KernelM").exclusive == Approx(0.005 * kSteps));
  CHECK(times.at(launch + "/KernelN").exclusive == Approx(0.009 * kSteps));
  CHECK(times.at("main thread").inclusive == Approx(0.014 * kSteps));
  const auto waits = values_by_path(database, database.profiles[0], metric(database, "CPU_IDLE"));
  CHECK(waits.at(launch).exclusive == Approx(0.013 * kSteps));
  CHECK(std::ranges::any_of(database.modules, [](const LoadModule& m) { return m.path == "[device]"; }));
}

TEST_CASE("a queue's trace has each task from its start to its end") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  REQUIRE(analysis.database.traces.size() == 2);
  for (int again = 0; again < 2; ++again) {
    const std::vector<TraceRecord> trace = whole(analysis.database.traces[1]);
    REQUIRE(trace.size() == 4 * kSteps);
    for (unsigned step = 0; step < kSteps; ++step) {
      const auto at = [&](uint64_t ms) {
        const uint64_t monotonic = kStartMonotonic + step * kStep + ms * kMillisecond;
        return monotonic / hpcrun::kTraceQuantumNs * hpcrun::kTraceQuantumNs - kStartMonotonic +
               kStartRealtime;
      };
      const TraceRecord* records = &trace[4 * step];
      REQUIRE(records[0].time_ns == at(3));
      REQUIRE(path_of(analysis.database, records[0].context).ends_with("/KernelM"));
      REQUIRE(records[1].time_ns == at(8));
      REQUIRE(records[1].context == kNone);
      REQUIRE(records[2].time_ns == at(10));
      REQUIRE(path_of(analysis.database, records[2].context).ends_with("/KernelN"));
      REQUIRE(records[3].time_ns == at(19));
      REQUIRE(records[3].context == kNone);
    }
  }
}

TEST_CASE("each task says which thread submitted it and when") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  const std::vector<DeviceLaunch> launches = whole(analysis.database.launches);
  REQUIRE(launches.size() == 2 * kSteps);
  const auto at = [](uint64_t ms) { return kStartRealtime + ms * kMillisecond; };
  CHECK(analysis.database.task_names.at(launches[0].task) == "KernelM");
  CHECK(analysis.database.task_names.at(launches[1].task) == "KernelN");
  CHECK(launches[1].queue == 1);
  CHECK(launches[1].thread == 0);
  // Times are rounded to quanta.
  CHECK(launches[1].submit_ns <= at(9));
  CHECK(launches[1].submit_ns + hpcrun::kTraceQuantumNs > at(9));
  CHECK(launches[1].start_ns + hpcrun::kTraceQuantumNs > at(10));
  CHECK(launches[1].end_ns + hpcrun::kTraceQuantumNs > at(19));
  CHECK(whole(analysis.database.launches).size() == 2 * kSteps);
}

TEST_CASE("each wait for a device is known with its call and the parts that no task covered") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  const std::vector<WaitForDevice> waits = whole(analysis.database.device_waits);
  REQUIRE(waits.size() == 2 * kSteps);
  const auto near = [](uint64_t time, uint64_t ms) {
    const uint64_t expected = kStartRealtime + ms * kMillisecond;
    return time <= expected && time + hpcrun::kTraceQuantumNs > expected;
  };
  CHECK(near(waits[0].begin_ns, 7));
  CHECK(near(waits[0].end_ns, 9));
  CHECK(near(waits[1].begin_ns, 9));
  CHECK(near(waits[1].end_ns, 20));
  CHECK(waits[0].launch_latency_ns == 0);
  CHECK(waits[0].wake_latency_ns / 1'000 == 999);  // whole quanta
  CHECK(waits[1].launch_latency_ns / 1'000 == 999);
  CHECK(waits[1].gap_ns == 0);
  for (const WaitForDevice& wait : waits) REQUIRE(wait.thread == 0);
  const std::string call = analysis.database.wait_names.at(waits[0].call);
  CHECK(!call.empty());
  CHECK(fixture_places().plain_path.find(call) != std::string::npos);
  CHECK(whole(analysis.database.device_waits).size() == 2 * kSteps);
}

TEST_CASE("a damaged launches.sqlite is refused with one line, and rows that lead nowhere are left out") {
  const TemporaryDirectory directory;
  Analysis analysis = device_program(directory);
  analysis.database.launches = [once = true](std::vector<DeviceLaunch>& block) mutable {
    block = {{0, 1, 0, 1, 2, 3},  {0, 1, 0, 1, 2, 3, 1'000}, {99, 1, 0, 1, 2, 3},
             {0, 99, 0, 1, 2, 3}, {0, 1, 99, 1, 2, 3},       {0, 1, 0, 9, 2, 3}};
    return std::exchange(once, false);
  };
  analysis.database.device_waits = [once = true](std::vector<WaitForDevice>& block) mutable {
    block = {{0, 0, 10, 20, 2, 3, 5},
             {0, 0, 10, 20, 2, 3, 6},
             {99, 0, 10, 20, 2, 3, 5},
             {0, 99, 10, 20, 2, 3, 5},
             {0, 0, 20, 10, 0, 0, 0}};
    return std::exchange(once, false);
  };
  write_database(analysis.database, directory / "database");
  const Database stored = read_database(directory / "database");
  CHECK(whole(stored.launches) ==
        std::vector<DeviceLaunch>{{0, 1, 0, 1, 2, 3}, {0, 1, 0, 1, 2, 3, 1'000}, {0, 1, kNone, 1, 2, 3}});
  CHECK(whole(stored.device_waits) == std::vector<WaitForDevice>{{0, 0, 10, 20, 2, 3, 5}});
  std::ofstream(directory / "database" / "launches.sqlite") << "no SQLite";
  try {
    read_database(directory / "database");
    FAIL("it was read");
  } catch (const DatabaseError& error) {
    CHECK(error.kind() == DatabaseError::Kind::Corrupt);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
  }
}

TEST_CASE("what a device did in all is in run.json, and no track of it counts as a thread") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  const auto run = run_of(analysis.database);
  CHECK(run["run"]["threads"] == 1);
  REQUIRE(run["devices"].size() == 1);
  const auto& device = run["devices"][0];
  CHECK(device["name"] == "pthread-cpu");
  CHECK(device["api"] == "OpenCL");
  CHECK(device["window_s"].get<double>() == Approx(1.0));
  CHECK(device["busy_s"].get<double>() == Approx(0.7));
  CHECK(device["kernels_s"].get<double>() == Approx(0.7));
  CHECK(device["copies_s"].get<double>() == 0);
  CHECK(device["overlap_s"].get<double>() == Approx(0.2));
  CHECK(device["cpu_waits_s"].get<double>() == Approx(0.65));
  CHECK(device["tasks"] == 2 * kSteps);
  CHECK(device["incomplete"] == 3);
  CHECK(device["known_contexts"] == 2 * kSteps - 1);
  REQUIRE(device["queues"].size() == 1);
  CHECK(device["queues"][0]["profile"] == 1);
  CHECK(device["queues"][0]["name"] == "queue 1");
}

TEST_CASE("a database with a device reads as it was written") {
  const TemporaryDirectory directory;
  const Analysis analysis = device_program(directory);
  write_database(analysis.database, directory / "database");
  const Database read = read_database(directory / "database");
  CHECK(read.profiles == analysis.database.profiles);
  CHECK(run_of(read) == run_of(analysis.database));
  CHECK(whole(read.traces.at(1)) == whole(analysis.database.traces.at(1)));
  CHECK(read.task_names == analysis.database.task_names);
  CHECK(whole(read.launches) == whole(analysis.database.launches));
  CHECK(whole(read.launches).size() == 2 * kSteps);  // each time from the start
  CHECK(read.wait_names == analysis.database.wait_names);
  CHECK(whole(read.device_waits) == whole(analysis.database.device_waits));
  CHECK(whole(read.device_waits).size() == 2 * kSteps);
  // Without run.json the identifiers in profile.db still distinguish queues from threads.
  std::filesystem::remove(directory / "database" / "run.json");
  const Database bare = read_database(directory / "database");
  CHECK(bare.profiles[1].id.device == 0);
  CHECK(bare.profiles[1].id.queue == 0);
  CHECK(bare.profiles[1].id.thread == -1);
  CHECK(bare.profiles[0].id.device == -1);
}

TEST_CASE("the same kernel of two processes is one function, whichever number each gave it") {
  const TemporaryDirectory directory;
  for (const uint64_t number : {1, 7}) {
    Recorder recorder(directory / (std::to_string(number) + ".prof"));
    describe(recorder.file, fixture_module());
    announce(hpcrun::kDeviceMetrics, recorder.file);
    const hpcrun::FrameKey kernel = hpcrun::make_frame(hpcrun::kModuleDevice, number);
    recorder.file.write_symbol(kernel, "saxpy");
    recorder.file.write_queue(2, 0, 0, "");
    RecordedTrack queue(recorder.file, 2);
    add(queue.tree, queue.tree.insert(&kernel, 1), hpcrun::DeviceMetric::GpuExecutionTime, 1'000);
    const hpcrun::FrameKey unnamed = hpcrun::make_frame(hpcrun::kModuleDevice, number + 1);
    add(queue.tree, queue.tree.insert(&unnamed, 1), hpcrun::DeviceMetric::GpuExecutionTime, 1'000);
    queue.seal();
    recorder.finish();
  }
  const Database database = analyze({directory.path()}).database;
  std::vector<std::string> names;
  for (const Function& function : database.functions) names.push_back(function.name);
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"[unnamed task]", "saxpy"});
}
