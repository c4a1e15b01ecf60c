#include <catch2/catch.hpp>
#include <iostream>

#include "tests/measurement/device_recorder.h"
#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;
using hpcrun::StreamKind;

namespace {

uint64_t device_bytes_of(const std::filesystem::path& path, StreamKind kind) {
  uint64_t bytes = 0;
  for (const RawExtent& extent : raw_extents(file_contents(path)))
    if (extent.kind == kind) bytes += extent.length;
  return bytes;
}

bool equal(const DeviceTask& task, const hpcrun::TaskTimes& said) {
  return task.submit_ns == quantized(said.submit_ns) && task.start_ns == quantized(said.start_ns) &&
         task.end_ns == quantized(said.end_ns);
}

}  // namespace

TEST_CASE("devices, queues and symbols come back as they were written") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_thread_start(0, 4242, kStartMonotonic, "main");
  recorder.file.write_device({0, 5, 1'000, "pthread-cpu", "uuid-1", "OpenCL", "PoCL 3.1"});
  recorder.file.write_device({1, 7, 2'000, "", "", "", ""});
  recorder.file.write_queue(6, 0, 1'500, "queue 1");
  recorder.file.write_symbol(hpcrun::make_frame(hpcrun::kModuleDevice, 3), "KernelN");
  recorder.file.write_symbol(hpcrun::make_frame(hpcrun::kModuleDevice, 1), "[copy to device]");
  recorder.finish();
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  REQUIRE(read.devices.size() == 2);
  CHECK(read.devices[0].name == "pthread-cpu");
  CHECK(read.devices[0].uuid == "uuid-1");
  CHECK(read.devices[0].api == "OpenCL");
  CHECK(read.devices[0].driver == "PoCL 3.1");
  CHECK(read.devices[0].first_use_ns == 1'000);
  CHECK(read.devices[1].track == 7);
  REQUIRE(read.queues.size() == 1);
  CHECK(read.queues[0].track == 6);
  CHECK(read.queues[0].device == 0);
  CHECK(read.queues[0].created_ns == 1'500);
  CHECK(read.queues[0].name == "queue 1");
  REQUIRE(read.symbols.size() == 2);
  CHECK(read.symbols[0].name == "[copy to device]");
  CHECK(read.symbols[1].frame == hpcrun::make_frame(hpcrun::kModuleDevice, 3));
  REQUIRE(read.threads.size() == 4);
  CHECK(read.threads[0].kind == TrackKind::Thread);
  CHECK(read.threads[1].kind == TrackKind::Device);
  CHECK(read.threads[2].kind == TrackKind::Queue);
  CHECK(read.threads[3].kind == TrackKind::Device);
}

TEST_CASE("tasks come back in the order of writing, also where they overlap or time runs back") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_queue(3, 0, 0, "");
  RecordedTrack queue(recorder.file, 3);
  const hpcrun::FrameKey frame = hpcrun::make_frame(hpcrun::kModuleDevice, 1);
  const hpcrun::NodeId node = queue.tree.insert(&frame, 1);
  Random random(1);
  std::vector<hpcrun::TaskTimes> said;
  for (int i = 0; i < 30'000; ++i) {
    // Times of any magnitude: hours, and years at first.
    const unsigned shift = i < 4 ? 6 : 20 + static_cast<unsigned>(random.below(40));
    hpcrun::TaskTimes times{};
    times.submit_ns = random.next() >> std::max(6u, shift);
    times.start_ns = times.submit_ns + (random.next() >> std::max(6u, shift));
    times.end_ns = times.start_ns + (random.next() >> std::max(6u, shift));
    REQUIRE(queue.tasks.append(times, i % 3 == 0 ? 0 : node, static_cast<uint32_t>(i)));
    said.push_back(times);
  }
  queue.seal();
  recorder.finish();
  const ProcessMeasurement read = read_measurement(recorder.path());
  const std::vector<DeviceTask> tasks = whole_tasks(read.threads.at(0));
  REQUIRE(tasks.size() == said.size());
  for (size_t i = 0; i < said.size(); ++i) {
    REQUIRE(equal(tasks[i], said[i]));
    REQUIRE(tasks[i].node == (i % 3 == 0 ? 0 : node));
    REQUIRE(tasks[i].thread == i);
  }
}

TEST_CASE("a task takes at most 12 bytes on a schedule of 10,000 launches a second from four threads") {
  constexpr unsigned kTasks = 200'000;
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedTrack queue(recorder.file, 3);
  Random random(2);
  uint64_t end = kStartMonotonic;
  for (unsigned i = 0; i < kTasks; ++i) {
    hpcrun::TaskTimes times{};
    times.start_ns = end + random.below(80'000);
    times.submit_ns = times.start_ns - 10'000 - random.below(2'000'000);
    times.end_ns = end = times.start_ns + 20'000 + random.below(100'000);
    REQUIRE(queue.tasks.append(times, static_cast<uint32_t>(random.below(2'000)),
                               static_cast<uint32_t>(random.below(4))));
  }
  queue.seal();
  recorder.finish();
  const double average = static_cast<double>(device_bytes_of(recorder.path(), StreamKind::Tasks)) / kTasks;
  std::cout << "tasks of 2,000 contexts at 10 kHz: " << average << " bytes each\n";
  CHECK(average <= 12);
}

TEST_CASE("waits come back with their parts, which never exceed them") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(1, 0x40);
  const hpcrun::NodeId node = thread.tree.insert(&frame, 1);
  hpcrun::WaitStream waits;
  REQUIRE(waits.attach(recorder.file, thread.arena, 0));
  constexpr uint64_t kQuantum = hpcrun::kTraceQuantumNs;
  REQUIRE(waits.append({100 * kQuantum, 200 * kQuantum, 10 * kQuantum, 20 * kQuantum, 30 * kQuantum}, node));
  REQUIRE(waits.append({300 * kQuantum, 310 * kQuantum, 8 * kQuantum, 8 * kQuantum, 8 * kQuantum}, 0));
  waits.seal();
  CHECK_FALSE(waits.append({400 * kQuantum, 410 * kQuantum, 0, 0, 0}, 0));
  recorder.finish();
  const std::vector<DeviceWait> read = whole_waits(read_measurement(recorder.path()).threads.at(0));
  REQUIRE(read.size() == 2);
  CHECK(read[0].begin_ns == 100 * kQuantum);
  CHECK(read[0].end_ns == 200 * kQuantum);
  CHECK(read[0].launch_latency_ns == 10 * kQuantum);
  CHECK(read[0].gap_ns == 20 * kQuantum);
  CHECK(read[0].wake_latency_ns == 30 * kQuantum);
  CHECK(read[0].node == node);
  CHECK(read[1].launch_latency_ns == 8 * kQuantum);
  CHECK(read[1].gap_ns == 2 * kQuantum);
  CHECK(read[1].wake_latency_ns == 0);
}

TEST_CASE("what was published of an unfinished file is read, and a damaged extent loses only itself") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedTrack queue(recorder.file, 3);
  uint64_t time = kStartMonotonic;
  constexpr unsigned kTasks = 20'000;
  for (unsigned i = 0; i < kTasks; ++i, time += 5'000)
    REQUIRE(queue.tasks.append({time, time + 1'000, time + 3'000}, i % 2, i));
  REQUIRE(whole_tasks(read_measurement(recorder.path()).threads.at(0)).size() == kTasks);

  std::vector<uint8_t> bytes = file_contents(recorder.path());
  std::vector<RawExtent> extents;
  for (const RawExtent& extent : raw_extents(bytes))
    if (extent.kind == StreamKind::Tasks) extents.push_back(extent);
  REQUIRE(extents.size() >= 4);
  REQUIRE(extents[1].sealed);
  bytes[extents[1].payload() + 100] ^= 1;
  std::ofstream(directory / "b.prof", std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const ProcessMeasurement damaged = read_measurement(directory / "b.prof");
  CHECK(damaged.warnings.size() == 1);
  const std::vector<DeviceTask> left = whole_tasks(damaged.threads.at(0));
  CHECK(left.size() < kTasks);
  CHECK(left.size() > kTasks * 3 / 4);
  for (const DeviceTask& task : left) {
    const uint64_t at = kStartMonotonic + uint64_t{task.thread} * 5'000;
    REQUIRE(task.start_ns == quantized(at + 1'000));
    REQUIRE(task.end_ns == quantized(at + 3'000));
  }
}
