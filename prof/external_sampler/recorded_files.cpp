// Measurement files of externally sampled processes. A file is created at the first sample, one for each
// program that a process executes.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "prof/base/message.h"
#include "prof/external_sampler/recorded_process.h"

namespace prof {

using hpcrun::Counter;
using hpcrun::EventKind;
using hpcrun::ProgramKind;

namespace {

constexpr int kMaxFilesOfOnePid = 10'000;  // execs of one process

int own_rank() {
  for (const hpcrun::RankVariables& names : hpcrun::kRankVariables) {
    const char* const value = getenv(names.rank);
    if (value && (!names.with_size_only || getenv(names.size))) return atoi(value);
  }
  return -1;
}

// The program inherits the launcher's variables. Variables of prof's own are only for the program.
std::string recorded_environment(const std::vector<std::pair<std::string, std::string>>& launch_variables) {
  std::string lines;
  for (const auto& [name, value] : launch_variables) lines += fmt::format("{}={}\n", name, value);
  for (const char* name : hpcrun::kRecordedVariables)
    if (const char* value = getenv(name); value && !std::string_view(name).starts_with("PROF_"))
      lines += fmt::format("{}={}\n", name, value);
  return lines;
}

std::string command_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::string reason_not_loaded(ProgramKind kind) {
  return kind == ProgramKind::Go       ? "in a Go program"
         : kind == ProgramKind::Static ? "in a statically linked program"
                                       : "in a program that does not load it";
}

std::string reason_no_contention(ProgramKind kind, const std::string& program) {
  return fmt::format(
      "Contention was not measured in {}: that needs prof's runtime, which cannot be loaded {}; if the "
      "processor samples memory accesses, use `perf c2c record` and `prof import perf.data`.",
      printable(std::filesystem::path(program).filename().string()), reason_not_loaded(kind));
}

std::string reason_no_waste(ProgramKind kind, const std::string& program) {
  return fmt::format(
      "Memory waste was not measured in {}: that needs prof's runtime, which cannot be loaded {}; use `prof "
      "exact`.",
      printable(std::filesystem::path(program).filename().string()), reason_not_loaded(kind));
}

std::string reason_outside(ProgramKind kind, const std::string& program) {
  const std::string name = printable(std::filesystem::path(program).filename().string());
  switch (kind) {
    case ProgramKind::Go:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is a Go program, which prof's "
          "signals would kill.",
          name);
    case ProgramKind::Static:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is statically linked, so it "
          "cannot load the runtime; link it dynamically to measure it at less cost.",
          name);
    case ProgramKind::OtherLibc:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is linked with a C library other "
          "than glibc (such as musl), whose loader cannot load the runtime.",
          name);
    case ProgramKind::Sanitized:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is built with a sanitizer or has "
          "one preloaded, which must be the only library that intercepts the C library; build it without a "
          "sanitizer to measure it at less cost.",
          name);
    case ProgramKind::Foreign:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is not a 64-bit x86 program, so "
          "its stacks are complete only where it keeps frame pointers.",
          name);
    default:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it did not load the "
          "runtime (its environment was cleared, or it has raised privileges).",
          name);
  }
}

constexpr char kUserOnly[] =
    "System time is not sampled in programs that are sampled from outside, because "
    "kernel.perf_event_paranoid does not allow it for this user; `sysctl kernel.perf_event_paranoid=1` or "
    "CAP_PERFMON removes the limit.";

}  // namespace

bool OutsideRecorder::create_file(Process& process) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string command = command_of(process.pid);
  if (command.empty()) command = plan_.command;
  const int rank = own_rank();
  hpcrun::ProcessInfo info{};
  info.command = command.c_str();
  info.executable = process.program.c_str();
  info.host = host.data();
  info.pid = process.pid;
  info.parent_pid = process.parent_pid;
  info.rank = rank;
  info.start_monotonic_ns = process.start_ns;
  info.start_realtime_ns = process.start_ns + (clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC));
  const std::string environment = recorded_environment(plan_.launch_variables);
  info.environment = environment.c_str();
  auto file = std::make_unique<hpcrun::MeasurementFile>();
  int error = EEXIST;
  for (int n = 0; n < kMaxFilesOfOnePid && error == EEXIST; ++n) {
    const std::filesystem::path path =
        plan_.directory / fmt::format("{}-{}-{}-{}.prof", host.data(), std::max(rank, 0), process.pid, n);
    error = file->create(path.c_str(), info);
  }
  if (error) {
    if (!warned_)
      say("cannot write measurements to {}: {}; process {} runs on unmeasured (further failures of this kind "
          "are not reported)",
          plan_.directory.string(), std::strerror(error), process.pid);
    warned_ = true;
    process.owner = Owner::Runtime;  // no further attempts
    return false;
  }
  process.file = std::move(file);
  process.file->counter(Counter::MeasuredBy) = static_cast<uint64_t>(getpid());
  return true;
}

void OutsideRecorder::note_unmeasured(int pid, const std::string& why) {
  Process process;
  process.pid = pid;
  process.start_ns = clock_ns(CLOCK_MONOTONIC);
  if (!create_file(process)) return;
  process.file->write_note(why.c_str());
  process.file->finish(process.start_ns);
  process.file->detach();
}

void OutsideRecorder::note_devices(Process& process) {
  process.file->write_note(
      fmt::format(
          "What {} did on devices was not measured: it was sampled from outside, without prof's library; "
          "start it with LD_PRELOAD as prof run sets it.",
          printable(std::filesystem::path(process.program).filename().string()))
          .c_str());
}

bool OutsideRecorder::open_file(Process& process) {
  if (process.file) return true;
  if (!create_file(process)) return false;
  process.file->counter(Counter::Threads) += process.thread_count;
  for (uint32_t index = 0; index < plan_.events.size(); ++index) {
    const hpcrun::EventSpec& event = plan_.events[index];
    if (event.kind == EventKind::RealTime) {
      process.file->write_note(
          "REALTIME is not sampled in programs that are sampled from outside: perf events do not count "
          "waiting time.");
      continue;
    }
    const bool is_time = event.kind == EventKind::CpuTime;
    hpcrun::MetricInfo metric{};
    metric.id = static_cast<uint16_t>(index);
    metric.name = event.name;
    metric.unit = is_time ? "sec" : "";
    metric.scale = is_time ? 1e-9 : 1.0;
    metric.source = plan_.samples_kernel ? "perf events read by prof, user and kernel"
                                         : "perf events read by prof, user only";
    metric.requested_hz = event.rate;
    metric.note = plan_.samples_kernel ? "" : kUserOnly;
    process.file->write_metric(metric);
  }
  process.file->write_note(reason_outside(process.kind, process.program).c_str());
  if (plan_.waste) process.file->write_note(reason_no_waste(process.kind, process.program).c_str());
  if (plan_.contention)
    process.file->write_note(reason_no_contention(process.kind, process.program).c_str(),
                             hpcrun::NoteKind::Contention);
  if (process.has_device_library) note_devices(process);
  announce_modules(process);
  return true;
}

void OutsideRecorder::announce_modules(Process& process) {
  for (const auto& [start, mapped] : process.space.mappings()) {
    const Image& image = *mapped.image;
    process.file->write_module(mapped.module, image.path().c_str(), mapped.start, mapped.end,
                               mapped.load_bias, image.build_id().data(),
                               static_cast<uint32_t>(image.build_id().size()), image.file());
  }
}

bool OutsideRecorder::open_thread(Process& process, Thread& thread) {
  if (thread.recording) return true;
  auto recording = std::make_unique<Thread::Recording>();
  hpcrun::MeasurementFile& file = *process.file;
  const bool ready = recording->tree.attach(file, recording->arena, thread.index) &&
                     (!plan_.trace || recording->trace.attach(file, recording->arena, thread.index));
  if (!ready) {
    recording->arena.release_all();
    file.counter(Counter::DroppedNoMemory) += 1;
    return false;
  }
  thread.recording = std::move(recording);
  file.write_thread_start(thread.index, thread.tid, thread.start_ns, thread.name.c_str());
  thread.written_name.begin(thread.name.c_str());
  thread.announced = true;
  return true;
}

void OutsideRecorder::close_thread(Process& process, Thread& thread, uint64_t now_ns) {
  if (!process.file) return;
  if (!thread.announced)
    process.file->write_thread_start(thread.index, thread.tid, thread.start_ns, thread.name.c_str());
  else
    thread.written_name.note_last(*process.file, thread.index, thread.name.c_str(), now_ns);
  process.file->write_thread_end(thread.index, now_ns, thread.cpu_at(now_ns));
  if (!thread.recording) return;
  thread.recording->tree.seal();
  if (plan_.trace) thread.recording->trace.seal();
  thread.recording->arena.release_all();
  thread.recording.reset();
}

void OutsideRecorder::close_file(Process& process, uint64_t now_ns) {
  // A process that ends undecided never loaded the runtime.
  if (process.owner == Owner::Undecided && !process.held.empty()) settle(process, true);
  if (!process.file) return;
  for (auto& [tid, thread] : process.threads) close_thread(process, *thread, now_ns);
  process.file->finish(now_ns);
  if (const int error = process.file->failure(); error == ESTALE)
    say("lost measurements of process {}: {} was truncated while the process ran; measure it again",
        process.pid, process.file->path());
  else if (error)
    say("stopped writing measurements to {}: {}; process {} was measured up to then",
        plan_.directory.string(), std::strerror(error), process.pid);
  process.file->detach();  // unmaps and closes it
  process.file.reset();
}

}  // namespace prof
