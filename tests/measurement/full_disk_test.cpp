// If the disk is full, recording stops with a named error, everything before is kept, and the recording
// process is neither killed nor disturbed.

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <iostream>

#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;

namespace {

// Runs `work` in a child with default signal actions and returns its result, or the signal that killed it.
std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    for (int signal : {SIGBUS, SIGXFSZ, SIGSEGV, SIGABRT}) ::signal(signal, SIG_DFL);
    std::string said;
    try {
      said = work();
    } catch (const std::exception& error) {
      said = error.what();
    }
    const ssize_t written = ::write(ends[1], said.data(), said.size());
    ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string said;
  char buffer[4096];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    said.append(buffer, static_cast<size_t>(count));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) said += "died of signal " + std::to_string(WTERMSIG(status));
  return said;
}

// Records until an extent is refused. Returns "" if everything before the refusal is read back.
std::string record_until_full(const std::filesystem::path& path, int expected_errno) {
  constexpr uint64_t kFarMore = 2'000'000;
  Recorder recorder(path);
  RecordedThread& thread = recorder.add_thread();
  Scenario scenario(5);
  uint64_t steps = 0;
  while (steps < kFarMore && record(thread, scenario.next())) ++steps;
  if (steps == kFarMore) return "was never refused";
  if (recorder.file.failure() != expected_errno) {
    return "failure() is " + std::to_string(recorder.file.failure());
  }
  for (int i = 0; i < 100'000; ++i) record(thread, scenario.next());
  recorder.file.write_note("nobody will read this");
  if (recorder.file.failure() != expected_errno) return "the first error was lost";
  recorder.finish();

  const ProcessMeasurement read = read_measurement(path);
  if (!read.warnings.empty()) return read.warnings[0];
  const std::vector<TraceSample> trace = whole_trace(read.threads.at(0));
  if (trace.size() < steps) return "only " + std::to_string(trace.size()) + " of " + std::to_string(steps);
  Scenario again(5);
  for (uint64_t i = 0; i < steps; ++i) {
    const Scenario::Step step = again.next();
    if (trace[i].time_ns != quantized(step.time_ns)) return "wrong time";
    if (!step.gap && path_of(read.threads[0], trace[i].node) != step.path) return "wrong path";
  }
  return "";
}

constexpr const char* kNoMount = "cannot mount";

std::string on_mounted(const char* type, const char* options, const std::filesystem::path& at,
                       const std::function<std::string()>& work) {
  return in_child([&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return kNoMount;
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount(type, at.c_str(), type, 0, options) != 0) return kNoMount;
    return work();
  });
}

std::string on_small_tmpfs(const std::filesystem::path& at, const std::function<std::string()>& work) {
  return on_mounted("tmpfs", "size=600k", at, work);
}

}  // namespace

TEST_CASE("a full disk stops recording and nothing else") {
  TemporaryDirectory directory;
  const std::string said =
      on_small_tmpfs(directory.path(), [&] { return record_until_full(directory / "a.prof", ENOSPC); });
  if (said == kNoMount) {
    std::cout << "SKIP a full disk: this user may not mount a small file system\n";
    return;
  }
  CHECK(said == "");
}

TEST_CASE("a disk that is full from the start refuses the file with an error") {
  TemporaryDirectory directory;
  const std::string said = on_small_tmpfs(directory.path(), [&]() -> std::string {
    const int filler = ::open((directory / "filler").c_str(), O_CREAT | O_WRONLY, 0600);
    const std::string block(4096, 'x');
    while (::write(filler, block.data(), block.size()) > 0) {
    }
    hpcrun::MeasurementFile file;
    const int error = file.create((directory / "a.prof").c_str(), process_info());
    if (error != ENOSPC) return "create says " + std::to_string(error);
    file.counter(hpcrun::Counter::Samples) += 1;
    file.write_note("into the void");
    return "";
  });
  if (said == kNoMount) {
    std::cout << "SKIP a disk full from the start: this user may not mount a small file system\n";
    return;
  }
  CHECK(said == "");
}

TEST_CASE("a file size limit stops recording without SIGXFSZ") {
  TemporaryDirectory directory;
  for (const rlim_t limit : {rlim_t{300'000}, rlim_t{262'144}, rlim_t{1'000'001}}) {
    const std::string name = "a" + std::to_string(limit);
    const std::string said = in_child([&] {
      const rlimit small{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &small);
      return record_until_full(directory / name, EFBIG);
    });
    CHECK(said == "");
    CHECK(std::filesystem::file_size(directory / name) <= limit);
  }
}

TEST_CASE("a file system that cannot reserve space is written with zeros first, and reads back the same") {
  TemporaryDirectory directory;
  const std::string said = on_mounted("ramfs", "", directory.path(), [&]() -> std::string {
    Recorder recorder(directory / "a.prof");
    RecordedThread& first = recorder.add_thread();
    RecordedThread& second = recorder.add_thread();
    Scenario a(1), b(2);
    for (int i = 0; i < 20'000; ++i) {
      if (!record(first, a.next()) || !record(second, b.next())) return "refused";
    }
    recorder.finish();
    const ProcessMeasurement read = read_measurement(recorder.path());
    if (!read.warnings.empty()) return read.warnings[0];
    for (uint64_t t = 0; t < 2; ++t) {
      const std::vector<TraceSample> trace = whole_trace(read.threads.at(t));
      if (trace.size() != 20'000) return "records are missing";
      Scenario again(t + 1);
      for (const TraceSample& sample : trace) {
        const Scenario::Step step = again.next();
        if (sample.time_ns != quantized(step.time_ns)) return "wrong time";
        if (!step.gap && path_of(read.threads[t], sample.node) != step.path) return "wrong path";
      }
    }
    return "";
  });
  if (said == kNoMount) {
    std::cout << "SKIP a file system without fallocate: this user may not mount one\n";
    return;
  }
  CHECK(said == "");
}
