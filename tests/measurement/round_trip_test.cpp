#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <thread>

#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;
using hpcrun::Counter;

TEST_CASE("what is recorded about a process is read back") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  const uint8_t build_id[] = {0xde, 0xad, 0xbe, 0xef};
  recorder.file.write_metric({0, "CPUTIME", "sec", 1e-9, "perf cpu-clock", 1000, ""});
  recorder.file.write_metric({1, "REALTIME", "sec", 1e-9, "timer", 200, "capped at 250 Hz"});
  recorder.file.write_module(1, "/usr/bin/app", 0x400000, 0x500000, 0, build_id, 4, {5, 6, 7});
  recorder.file.write_module(2, "/lib/plugin.so", 0x7f0000000000, 0x7f0000100000, 0x7f0000000000, nullptr, 0);
  recorder.file.write_thread_start(0, 4242, 10, "app");
  recorder.file.write_thread_start(1, 4243, 20, "worker");
  recorder.file.write_thread_end(1, 30, 9);
  recorder.file.write_note("kernel time is not sampled");
  recorder.file.counter(Counter::Samples) = 12;
  recorder.file.counter(Counter::DroppedNested) = 3;
  recorder.file.stack_counter(6) = 5;
  recorder.finish();

  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  CHECK(read.process.command == "app --flag");
  CHECK(read.process.executable == "/usr/bin/app");
  CHECK(read.process.host == "node17");
  CHECK(read.process.environment == "OMP_NUM_THREADS=2\nLANG=C");
  CHECK(read.process.pid == 4242);
  CHECK(read.process.parent_pid == 4200);
  CHECK(read.process.rank == 3);
  CHECK(read.process.start_realtime_ns == kStartRealtime);
  CHECK(read.process.start_monotonic_ns == kStartMonotonic);
  CHECK(read.process.end_monotonic_ns == kStartMonotonic + 1'000'000'000);

  REQUIRE(read.metrics.size() == 2);
  CHECK(read.metrics[0].name == "CPUTIME");
  CHECK(read.metrics[0].unit == "sec");
  CHECK(read.metrics[0].scale == 1e-9);
  CHECK(read.metrics[0].requested_hz == 1000);
  CHECK(read.metrics[1].source == "timer");
  CHECK(read.metrics[1].note == "capped at 250 Hz");

  REQUIRE(read.modules.size() == 2);
  CHECK(read.modules[0].path == "/usr/bin/app");
  CHECK(read.modules[0].build_id == std::vector<uint8_t>{0xde, 0xad, 0xbe, 0xef});
  CHECK(read.modules[1].start == 0x7f0000000000);
  CHECK(read.modules[1].end == 0x7f0000100000);
  CHECK(read.modules[1].load_bias == 0x7f0000000000);
  CHECK(read.modules[0].file == hpcrun::FileIdentity{5, 6, 7});
  CHECK(!read.modules[1].file.is_known());
  CHECK(read.modules[1].build_id.empty());

  REQUIRE(read.threads.size() == 2);
  CHECK(read.threads[0].tid == 4242);
  CHECK(read.threads[0].end_ns == 0);
  CHECK(read.threads[1].name == "worker");
  CHECK(read.threads[1].start_ns == 20);
  CHECK(read.threads[1].end_ns == 30);
  CHECK(read.threads[1].cpu_ns == 9);
  CHECK(texts(read.notes) == std::vector<std::string>{"kernel time is not sampled"});
  CHECK(read.counter(Counter::Samples) == 12);
  CHECK(read.counter(Counter::DroppedNested) == 3);
  CHECK(read.counter(Counter::FileBytes) == std::filesystem::file_size(recorder.path()));
  CHECK(read.stack_reasons[6] == 5);
}

TEST_CASE("a thread has the last of its names, in whichever order they were written") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.write_thread_start(0, 4242, 10, "app");
  recorder.file.write_thread_name(0, 30, "last");
  recorder.file.write_thread_name(0, 20, "first");
  recorder.file.write_thread_name(1, 50, "named before its start");
  recorder.file.write_thread_start(1, 4243, 40, "app");
  recorder.finish();

  const ProcessMeasurement read = read_measurement(recorder.path());
  REQUIRE(read.threads.size() == 2);
  CHECK(read.threads[0].name == "last");
  CHECK(read.threads[0].start_ns == 10);
  CHECK(read.threads[1].name == "named before its start");
}

TEST_CASE("every sample of every thread is read back with its path, value and time") {
  constexpr unsigned kThreads = 3;
  constexpr unsigned kSteps = 30'000;
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  for (unsigned t = 0; t < kThreads; ++t) recorder.add_thread();
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < kThreads; ++t) {
    workers.emplace_back([&, t] {
      Scenario scenario(t);
      for (unsigned i = 0; i < kSteps; ++i) record(recorder.threads[t], scenario.next());
    });
  }
  for (std::thread& worker : workers) worker.join();
  recorder.finish();

  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  REQUIRE(read.threads.size() == kThreads);
  for (unsigned t = 0; t < kThreads; ++t) {
    const MeasuredThread& thread = read.threads[t];
    const std::vector<TraceSample> trace = whole_trace(thread);
    REQUIRE(trace.size() == kSteps);
    std::map<std::pair<std::vector<hpcrun::FrameKey>, uint16_t>, std::pair<uint64_t, uint64_t>> expected;
    Scenario scenario(t);
    unsigned wrong = 0;
    for (const TraceSample& sample : trace) {
      const Scenario::Step step = scenario.next();
      wrong += sample.time_ns != quantized(step.time_ns);
      wrong += (sample.node == kTraceGapNode) != step.gap;
      if (step.gap) continue;
      wrong += path_of(thread, sample.node) != step.path;
      auto& [samples, value] = expected[{step.path, step.metric}];
      ++samples;
      value += step.value;
    }
    CHECK(wrong == 0);
    CHECK(thread.cells.size() == expected.size());
    for (const MeasuredCell& cell : thread.cells) {
      const auto& [samples, value] = expected[{path_of(thread, cell.node), cell.metric}];
      wrong += cell.samples != samples || cell.value != value;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the file of a forked process without samples is one page") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.keep_records();
  recorder.file.write_thread_start(0, 4242, kStartMonotonic, "main");
  recorder.file.write_note("a note");
  recorder.file.counter(hpcrun::Counter::Threads) = 1;
  CHECK(std::filesystem::file_size(recorder.path()) == 4096);
  CHECK(read_measurement(recorder.path()).process.command == "app --flag");
  recorder.file.finish(kStartMonotonic + 1);
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  CHECK(read.counter(hpcrun::Counter::Threads) == 1);
  CHECK(read.notes.empty());
  CHECK(std::filesystem::file_size(recorder.path()) == 4096);
}

TEST_CASE("records that were kept are in the file with the first sample, also those that are written later") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  recorder.file.keep_records();
  recorder.file.write_note("before", hpcrun::NoteKind::Contention);
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(1, 16);
  REQUIRE(thread.tree.add(thread.tree.insert(&frame, 1), 0, 1));
  recorder.file.write_note("after");
  const ProcessMeasurement killed = read_measurement(recorder.path());
  CHECK(killed.notes == std::vector<MeasuredNote>{{hpcrun::NoteKind::Contention, "before"},
                                                  {hpcrun::NoteKind::Run, "after"}});
  CHECK(killed.threads.size() == 1);
}

TEST_CASE("many threads write process records at once without losing one") {
  constexpr unsigned kThreads = 8;
  constexpr unsigned kEach = 1000;
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < kThreads; ++t) {
    workers.emplace_back([&, t] {
      for (unsigned i = 0; i < kEach; ++i) {
        recorder.file.write_module(static_cast<uint16_t>(1 + t * kEach + i), "/lib/some/library.so", i, i + 1,
                                   t, nullptr, 0);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  recorder.finish();
  const ProcessMeasurement read = read_measurement(recorder.path());
  REQUIRE(read.modules.size() == kThreads * kEach);
  for (unsigned i = 0; i < read.modules.size(); ++i) {
    REQUIRE(read.modules[i].id == i + 1);
    REQUIRE(read.modules[i].load_bias == i / kEach);
    REQUIRE(read.modules[i].start == i % kEach);
    REQUIRE(read.modules[i].path == "/lib/some/library.so");
  }
}

TEST_CASE("a string longer than a path is cut, not refused") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  const std::string text(10'000, 'x');
  recorder.file.write_note(text.c_str());
  recorder.file.write_note("after");
  recorder.finish();
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(texts(read.notes) == std::vector<std::string>{std::string(4096, 'x'), "after"});
}

TEST_CASE("an existing file is never written over") {
  TemporaryDirectory directory;
  std::ofstream(directory / "a.prof") << "mine";
  hpcrun::MeasurementFile file;
  CHECK(file.create((directory / "a.prof").c_str(), process_info()) == EEXIST);
  CHECK(std::filesystem::file_size(directory / "a.prof") == 4);
}

TEST_CASE("the descriptor is out of the program's way and the file ends where its last extent does") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  CHECK(recorder.file.descriptor() >= static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1024)) - 16);
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(1, 0x10);
  const hpcrun::NodeId node = thread.tree.insert(&frame, 1);
  thread.tree.add(node, 0, 1);
  thread.trace.append(kStartMonotonic, node);
  recorder.finish();
  // The header, and one page for each stream.
  CHECK(std::filesystem::file_size(recorder.path()) == 4 * hpcrun::kPageBytes);
}

TEST_CASE(
    "a program that closes all descriptors neither loses samples nor gets our data into its own files") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  Scenario scenario(1);
  for (int i = 0; i < 100; ++i) REQUIRE(record(thread, scenario.next()));

  // The program's file gets our descriptor's number.
  std::ofstream(directory / "theirs") << "theirs";
  const int theirs = ::open((directory / "theirs").c_str(), O_RDWR);
  const int number = recorder.file.descriptor();
  REQUIRE(::dup2(theirs, number) == number);

  for (int i = 0; i < 20'000; ++i) REQUIRE(record(thread, scenario.next()));
  recorder.finish();
  CHECK(std::filesystem::file_size(directory / "theirs") == 6);
  CHECK(::fcntl(number, F_GETFD) >= 0);
  ::close(theirs);
  ::close(number);
  const ProcessMeasurement read = read_measurement(recorder.path());
  CHECK(read.warnings.empty());
  CHECK(whole_trace(read.threads.at(0)).size() == 20'100);
}

TEST_CASE("unusable files are refused with one clear line") {
  TemporaryDirectory directory;
  const auto kind_of = [&](const std::string& name) {
    try {
      read_measurement(directory / name);
    } catch (const MeasurementError& error) {
      CHECK(std::string(error.what()).find(name) != std::string::npos);
      CHECK(std::string(error.what()).find('\n') == std::string::npos);
      return error.kind();
    }
    FAIL("was not refused");
    return MeasurementError::Kind::CannotOpen;
  };
  using Kind = MeasurementError::Kind;
  CHECK(kind_of("absent") == Kind::CannotOpen);
  std::ofstream(directory / "empty");
  CHECK(kind_of("empty") == Kind::Empty);
  std::ofstream(directory / "text") << "#!/bin/sh\n";
  CHECK(kind_of("text") == Kind::NotAMeasurement);
  std::filesystem::create_directory(directory / "dir");
  CHECK(kind_of("dir") == Kind::NotAMeasurement);
  std::ofstream(directory / "cut") << std::string_view(hpcrun::kFileMagic, 8);
  CHECK(kind_of("cut") == Kind::DamagedHeader);
  {
    Recorder recorder(directory / "newer");
    recorder.finish();
    std::fstream file(directory / "newer", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offsetof(hpcrun::FileHeader, major));
    file.put(9);
  }
  CHECK(kind_of("newer") == Kind::UnsupportedVersion);
}
