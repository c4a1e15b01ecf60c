// A forked child never writes to its parent's file, whether it calls detach() or not.

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/measurement/raw_extents.h"
#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

namespace {

int exit_status(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

struct Parent {
  TemporaryDirectory directory;
  Recorder recorder{directory / "parent.prof"};
  RecordedThread& thread = recorder.add_thread();
  Scenario scenario{4};
  Parent() {
    for (int i = 0; i < 3000; ++i) record(thread, scenario.next());
    recorder.file.write_note("parent");
  }
};

}  // namespace

TEST_CASE("a child that detaches from its parent's file records into its own") {
  Parent parent;
  const std::vector<uint8_t> before = file_contents(parent.recorder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    hpcrun::MeasurementFile& file = parent.recorder.file;
    file.detach();
    file.counter(hpcrun::Counter::Samples) += 1;  // discarded
    file.write_note("lost");
    if (file.descriptor() != -1 || file.bytes_mapped() != 0) ::_exit(2);
    if (file.create((parent.directory / "child.prof").c_str(), process_info()) != 0) ::_exit(3);
    file.write_note("child");
    file.counter(hpcrun::Counter::Samples) += 7;
    hpcrun::Arena arena;
    hpcrun::Trace trace;
    if (!trace.attach(file, arena, 0)) ::_exit(4);
    for (uint64_t i = 0; i < 10'000; ++i) {
      if (!trace.append(kStartMonotonic + i * 1000, static_cast<hpcrun::NodeId>(i % 50))) ::_exit(5);
    }
    trace.seal();
    file.finish(kStartMonotonic + 1);
    ::_exit(0);
  }
  REQUIRE(exit_status(child) == 0);
  CHECK(file_contents(parent.recorder.path()) == before);
  const ProcessMeasurement read = read_measurement(parent.directory / "child.prof");
  CHECK(texts(read.notes) == std::vector<std::string>{"child"});
  CHECK(read.counter(hpcrun::Counter::Samples) == 7);
  CHECK(whole_trace(read.threads.at(0)).size() == 10'000);

  // The parent continues.
  for (int i = 0; i < 3000; ++i) REQUIRE(record(parent.thread, parent.scenario.next()));
  parent.recorder.finish();
  CHECK(whole_trace(read_measurement(parent.recorder.path()).threads.at(0)).size() == 6000);
}

TEST_CASE("a child that was not given its parent's file is refused space in it") {
  Parent parent;
  const std::vector<uint8_t> before = file_contents(parent.recorder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    hpcrun::MeasurementFile& file = parent.recorder.file;
    file.write_note("lost");
    file.write_module(1, "/lib/lost", 1, 2, 0, nullptr, 0);
    hpcrun::MappedExtent extent;
    if (file.take(hpcrun::StreamKind::Trace, 0, {}, 4096, extent)) ::_exit(2);
    if (file.failure() != 0) ::_exit(3);
    file.finish(1);
    ::_exit(0);
  }
  REQUIRE(exit_status(child) == 0);
  CHECK(file_contents(parent.recorder.path()) == before);
}
