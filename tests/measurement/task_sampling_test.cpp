#include "hpcrun/measurement/task_sampling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>
#include <set>

#include "tests/measurement/device_recorder.h"
#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kPeriodNs = 1'000'000;  // 1 kHz

// Kernels in a repeating sequence: how long each runs, and how long nothing runs after it.
struct Kernel {
  uint64_t run_ns, pause_ns;
};

struct Recorded {
  std::vector<DeviceTask> tasks;
  uint64_t executed = 0;
  double bytes_per_task = 0;
  std::vector<double> time_ns;  // of each kernel, represented by its records
};

Recorded record(const std::vector<Kernel>& kernels, double seconds, uint64_t period_ns) {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_queue(3, 0, 0, "");
  RecordedTrack queue(recorder.file, 3, period_ns);
  std::vector<hpcrun::NodeId> nodes;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const hpcrun::FrameKey frame = hpcrun::make_frame(hpcrun::kModuleDevice, k + 1);
    nodes.push_back(queue.tree.insert(&frame, 1));
  }
  Recorded result;
  uint64_t now = kStartMonotonic;
  const uint64_t until = now + static_cast<uint64_t>(seconds * 1e9);
  for (size_t k = 0; now < until; k = (k + 1) % kernels.size()) {
    const uint64_t end = now + kernels[k].run_ns;
    REQUIRE(queue.tasks.append({now - 50 * kMicrosecond, now, end}, nodes[k], 2));
    now = end + kernels[k].pause_ns;
    ++result.executed;
  }
  queue.seal();
  recorder.finish();
  uint64_t bytes = 0;
  for (const RawExtent& extent : raw_extents(file_contents(recorder.path())))
    if (extent.kind == hpcrun::StreamKind::Tasks) bytes += extent.length;
  result.bytes_per_task = static_cast<double>(bytes) / static_cast<double>(result.executed);
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  result.tasks = whole_tasks(read.threads.at(0));
  result.time_ns.resize(kernels.size());
  for (const DeviceTask& task : result.tasks) {
    const auto kernel = std::ranges::find(nodes, task.node) - nodes.begin();
    result.time_ns.at(static_cast<size_t>(kernel)) +=
        static_cast<double>(task.stands_until_ns - task.stands_from_ns);
    REQUIRE(task.thread == 2);
  }
  return result;
}

double sum(const std::vector<double>& all) {
  double sum = 0;
  for (const double one : all) sum += one;
  return sum;
}

// Returns the largest relative error of a kernel's share.
double largest_error(const Recorded& sampled, const Recorded& exact) {
  double largest = 0;
  for (size_t k = 0; k < exact.time_ns.size(); ++k) {
    const double share = exact.time_ns[k] / sum(exact.time_ns);
    largest = std::max(largest, std::fabs(sampled.time_ns[k] / sum(sampled.time_ns) - share) / share);
  }
  return largest;
}

}  // namespace

TEST_CASE("the cells of an interval are those in which the sampler looks at it", "[sampling]") {
  for (const uint64_t period : {1, 2, 7, 3'906}) {
    std::set<uint64_t> looks;
    for (uint64_t cell = 0; cell < 200; ++cell) {
      const uint64_t at = hpcrun::sampled_at(cell, period);
      REQUIRE(at / period == cell);
      looks.insert(at);
    }
    Random random(period);
    for (int i = 0; i < 20'000; ++i) {
      const uint64_t start = random.below(150 * period);
      const uint64_t end = start + random.below(i % 2 == 0 ? 5 : 40 * period + 1);
      const hpcrun::SampledCells cells = hpcrun::sampled_cells(start, end, period);
      const auto from = looks.lower_bound(start), to = looks.lower_bound(end);
      REQUIRE(cells.count == static_cast<uint64_t>(std::distance(from, to)));
      if (cells.count > 0) REQUIRE(cells.first == *from / period);
    }
  }
}

TEST_CASE("what is kept of tasks that come fast has the shares of all within 5 % at 1 kHz", "[sampling]") {
  const std::vector<std::vector<Kernel>> schedules = {
      {{70 * kMicrosecond, 1 * kMicrosecond}, {20 * kMicrosecond, 2 * kMicrosecond}, {9 * kMicrosecond, 0}},
      // Integer fractions of a period: samples at equal distances would always find the same kernel.
      {{256 * 500, 0}, {256 * 250, 0}, {256 * 226, 0}, {256 * 976, 0}},
      // Long and short in turn; the device is idle half of the time.
      {{500 * kMicrosecond, 500 * kMicrosecond}, {100 * kMicrosecond, 100 * kMicrosecond}},
  };
  for (const std::vector<Kernel>& kernels : schedules) {
    const Recorded exact = record(kernels, 60, 0), sampled = record(kernels, 60, kPeriodNs);
    REQUIRE(exact.tasks.size() == exact.executed);
    std::cout << exact.executed / 60 << " tasks/s: exact " << exact.bytes_per_task
              << " bytes a task, sampled " << sampled.bytes_per_task << ", largest error of a share "
              << 100 * largest_error(sampled, exact) << " %\n";
    CHECK(largest_error(sampled, exact) < 0.05);
    CHECK(sum(sampled.time_ns) == Approx(sum(exact.time_ns)).epsilon(0.05));
    CHECK(sampled.tasks.size() <= 60'100);  // one per period, and some before the rate of tasks is known
  }
}

TEST_CASE("a task that was sampled has its own times, and stands for periods that no other stands for",
          "[sampling]") {
  const Recorded sampled = record({{30 * kMicrosecond, 3 * kMicrosecond}}, 5, kPeriodNs);
  REQUIRE(sampled.tasks.size() > 1'000);
  uint64_t end = 0, kept_as_they_are = 0;
  for (const DeviceTask& task : sampled.tasks) {
    CHECK(task.end_ns - task.start_ns <= 31 * kMicrosecond);
    REQUIRE(task.stands_from_ns >= end);
    end = task.stands_until_ns;
    kept_as_they_are += task.is_sampled ? 0 : 1;
    if (task.is_sampled) CHECK(task.stands_until_ns - task.stands_from_ns >= 999 * kMicrosecond);
  }
  CHECK(kept_as_they_are == 16);
}

TEST_CASE("tasks that come slower than samples are all kept as they are", "[sampling]") {
  const std::vector<Kernel> slow = {{2'000 * kMicrosecond, 100 * kMicrosecond}, {10 * kMicrosecond, 0}};
  const Recorded exact = record(slow, 5, 0), sampled = record(slow, 5, kPeriodNs);
  REQUIRE(sampled.tasks.size() == exact.tasks.size());
  for (size_t i = 0; i < exact.tasks.size(); ++i) {
    REQUIRE(sampled.tasks[i].start_ns == exact.tasks[i].start_ns);
    REQUIRE(sampled.tasks[i].end_ns == exact.tasks[i].end_ns);
    REQUIRE_FALSE(sampled.tasks[i].is_sampled);
  }
  CHECK(sampled.time_ns == exact.time_ns);
}

TEST_CASE("each phase of a program is kept by how fast its own tasks come", "[sampling]") {
  std::vector<Kernel> phases;
  for (int i = 0; i < 200; ++i) phases.push_back({20 * kMicrosecond, 5'000 * kMicrosecond});
  const Recorded slow = record(phases, 1.004, kPeriodNs);
  CHECK(std::ranges::none_of(slow.tasks, &DeviceTask::is_sampled));
  for (int i = 0; i < 100'000; ++i) phases.push_back({20 * kMicrosecond, 0});
  const Recorded both = record(phases, 3.004, kPeriodNs);
  const auto of_slow =
      std::ranges::count_if(both.tasks, [](const DeviceTask& task) { return !task.is_sampled; });
  // Includes tasks of the fast phase that end while slow ones are among the last 16.
  CHECK(of_slow >= 200);
  CHECK(of_slow < 230);
  CHECK(both.tasks.size() < 200 + 2'000 + 50);
}
