#pragma once
// A measurement of a synthetic program with an accelerator, with a known schedule: the program of figure 2.1
// in Chabbi's thesis. In each of kSteps steps, in milliseconds from its start:
//
//    0 to 2    outer_work computes, the device is idle
//    2         KernelM is submitted; it runs from 3 to 8, while the CPU computes until 7
//    7 to 9    the CPU waits for KernelM, 1 ms of it for the task and 1 ms for the wake-up
//    9         KernelN is submitted; it runs from 10 to 19, and the CPU waits from 9 to 20
//
// The call path of both launches is outer -> plain of the fixture (measured_program.h), followed by the
// kernel.

#include <catch2/catch.hpp>

#include "tests/analysis/pipeline/measured_program.h"
#include "tests/measurement/device_recorder.h"

namespace prof::test {

constexpr unsigned kSteps = 50;
constexpr uint64_t kStep = 20 * kMillisecond;

inline void add(hpcrun::CallingContextTree& tree, hpcrun::NodeId node, hpcrun::DeviceMetric metric,
                uint64_t value, uint64_t samples = 1) {
  REQUIRE(tree.add(node, static_cast<uint16_t>(metric), value, samples));
}

inline void write_device_program(const std::filesystem::path& path) {
  using hpcrun::DeviceMetric;
  using hpcrun::DeviceTotal;
  const FixturePlaces places = fixture_places();
  Recorder recorder(path);
  hpcrun::MeasurementFile& file = recorder.file;
  describe(file, fixture_module());
  announce(hpcrun::kDeviceMetrics, file);
  const hpcrun::FrameKey kernel_m = hpcrun::make_frame(hpcrun::kModuleDevice, 1);
  const hpcrun::FrameKey kernel_n = hpcrun::make_frame(hpcrun::kModuleDevice, 2);
  file.write_symbol(kernel_m, "KernelM");
  file.write_symbol(kernel_n, "KernelN");
  file.write_thread_start(0, 4242, kStartMonotonic, "main");
  file.write_device({0, 1, kStartMonotonic, "pthread-cpu", "uuid-1", "OpenCL", "PoCL 3.1"});
  file.write_queue(2, 0, kStartMonotonic, "queue 1");

  RecordedThread& main = recorder.add_thread();
  RecordedTrack device(file, 1);
  RecordedTrack queue(file, 2);
  hpcrun::WaitStream waits;
  REQUIRE(waits.attach(file, main.arena, 0));
  const hpcrun::FrameKey outer = hpcrun::make_frame(kModule, places.outer);
  const hpcrun::FrameKey plain = hpcrun::make_frame(kModule, places.plain);
  const hpcrun::FrameKey waiting[] = {plain, outer};
  const hpcrun::FrameKey m[] = {kernel_m, plain, outer};
  const hpcrun::FrameKey n[] = {kernel_n, plain, outer};
  const hpcrun::NodeId computes = main.tree.insert(&outer, 1);
  const hpcrun::NodeId waits_at = main.tree.insert(waiting, 2);
  const hpcrun::NodeId m_node = queue.tree.insert(m, 3);
  const hpcrun::NodeId n_node = queue.tree.insert(n, 3);
  for (uint64_t step = 0; step < kSteps; ++step) {
    const auto at = [&](uint64_t ms) { return kStartMonotonic + step * kStep + ms * kMillisecond; };
    REQUIRE(main.tree.add(computes, kTime, 7 * kMillisecond, 7));
    REQUIRE(main.trace.append(at(7), computes));
    add(main.tree, computes, DeviceMetric::GpuIdleCause, 2 * kMillisecond);
    add(main.tree, waits_at, DeviceMetric::CpuIdle, 13 * kMillisecond, 2);
    add(main.tree, waits_at, DeviceMetric::LaunchLatency, 1 * kMillisecond);
    add(main.tree, waits_at, DeviceMetric::WakeLatency, 2 * kMillisecond, 2);
    add(main.tree, waits_at, DeviceMetric::GpuIdleCause, 4 * kMillisecond, 2);
    REQUIRE(waits.append({at(7), at(9), 0, 0, 1 * kMillisecond}, waits_at));
    REQUIRE(waits.append({at(9), at(20), 1 * kMillisecond, 0, 1 * kMillisecond}, waits_at));
    add(queue.tree, m_node, DeviceMetric::GpuExecutionTime, 5 * kMillisecond);
    add(queue.tree, m_node, DeviceMetric::CpuIdleCause, 1 * kMillisecond);
    add(queue.tree, m_node, DeviceMetric::Overlap, 4 * kMillisecond);
    add(queue.tree, n_node, DeviceMetric::GpuExecutionTime, 9 * kMillisecond);
    add(queue.tree, n_node, DeviceMetric::CpuIdleCause, 9 * kMillisecond);
    REQUIRE(queue.tasks.append({at(2), at(3), at(8)}, m_node, 0));
    REQUIRE(queue.tasks.append({at(9), at(10), at(19)}, n_node, 0));
  }
  const auto total = [&](DeviceTotal which, uint64_t value, uint64_t samples = 1) {
    REQUIRE(device.tree.add(hpcrun::kRootNode, static_cast<uint16_t>(which), value, samples));
  };
  total(DeviceTotal::Window, kSteps * kStep);
  total(DeviceTotal::Busy, kSteps * 14 * kMillisecond);
  total(DeviceTotal::Kernels, kSteps * 14 * kMillisecond);
  total(DeviceTotal::Overlap, kSteps * 4 * kMillisecond);
  total(DeviceTotal::CpuWaits, kSteps * 13 * kMillisecond);
  total(DeviceTotal::Tasks, 0, 2 * kSteps);
  total(DeviceTotal::Incomplete, 0, 3);
  total(DeviceTotal::KnownContexts, 0, 2 * kSteps - 1);
  waits.seal();
  device.seal();
  queue.seal();
  file.write_thread_end(0, kStartMonotonic + kSteps * kStep, kSteps * 7 * kMillisecond);
  file.counter(hpcrun::Counter::Samples) = 7 * kSteps;
  main.seal();
  file.finish(kStartMonotonic + kSteps * kStep);
}

}  // namespace prof::test
