#include "prof/outside/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/thread_name.h"
#include "hpcrun/measurement/writer.h"
#include "prof/message.h"

namespace prof {

using hpcrun::Counter;
using hpcrun::EventKind;
using hpcrun::ProgramKind;

namespace {

constexpr int kMostFilesOfOnePid = 10'000;      // execs of one process
constexpr uint64_t kShortestGapNs = 2'000'000;  // in a trace: scheduling noise stays below

// A process that maps it measures itself.
constexpr char kRuntime[] = "/libhpcrun.so";

enum class Owner : uint8_t { Undecided, Ours, Runtime };

uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t period_of(const hpcrun::EventSpec& event) {
  return 1'000'000'000u / event.rate;
}

int own_rank() {
  for (const char* name : hpcrun::kRankVariables)
    if (const char* value = getenv(name)) return std::atoi(value);
  return -1;
}

std::string command_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

bool is_file(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("//");
}

std::string why_outside(ProgramKind kind, const std::string& program) {
  const std::string name = printable(std::filesystem::path(program).filename().string());
  switch (kind) {
    case ProgramKind::Go:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is a Go program, "
          "whose runtime would be killed by our signals.",
          name);
    case ProgramKind::Static:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is statically "
          "linked, so that nothing can be preloaded; linked dynamically it would be measured "
          "at less cost.",
          name);
    case ProgramKind::Foreign:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it is not a 64-bit "
          "x86 program, so that its stacks are known as far as it keeps frame pointers.",
          name);
    default:
      return fmt::format(
          "{} was sampled from outside, by perf events that prof reads: it did not load the "
          "runtime (its environment was cleared, or it has raised privileges).",
          name);
  }
}

constexpr char kUserOnly[] =
    "Time in the kernel is not sampled in programs that are sampled from outside, because "
    "kernel.perf_event_paranoid forbids this user to; `sysctl kernel.perf_event_paranoid=1` or CAP_PERFMON "
    "removes the limit.";

}  // namespace

struct OutsideRecorder::Thread {
  // What samples need, made at the first.
  struct Recording {
    hpcrun::Arena arena;
    hpcrun::CallingContextTree tree;
    hpcrun::Trace trace;
  };

  int tid = 0;
  uint32_t index = 0;
  std::string name;
  uint64_t start_ns = 0;
  uint64_t cpu_ns = 0;                    // up to the last time it was switched out
  std::optional<uint64_t> running_since;  // while it is switched in
  uint64_t sampled_cpu_ns = 0;            // at its last sample of the CPU clock
  uint64_t trace_ns = 0;                  // at the last record of its trace
  uint64_t trace_cpu_ns = 0;
  bool trace_rests = false;  // it has a gap since a pause began
  bool announced = false;
  hpcrun::ThreadName written_name;  // once it is announced
  std::unique_ptr<Recording> recording;

  uint64_t cpu_at(uint64_t now_ns) const {
    return cpu_ns + (running_since && now_ns > *running_since ? now_ns - *running_since : 0);
  }
};

struct OutsideRecorder::Process {
  struct HeldSample {
    PerfRecord record;
    uint64_t weight, cpu_ns;
  };

  int pid = 0;
  int parent_pid = 0;
  uint64_t start_ns = 0;
  std::string program;  // path of the first mapping after exec
  std::string loader;   // of the first other file
  ProgramKind kind = ProgramKind::Unreadable;
  Owner owner = Owner::Undecided;
  AddressSpace space;
  uint16_t module_count = 0;
  std::map<int, std::unique_ptr<Thread>> threads;
  uint32_t thread_count = 0;
  std::vector<HeldSample> held;  // until the owner is known
  std::unique_ptr<hpcrun::MeasurementFile> file;
  ProcessPauses pauses;
};

OutsideRecorder::OutsideRecorder(OutsidePlan plan) : plan_(std::move(plan)), run_pause_(plan_.directory) {}
OutsideRecorder::~OutsideRecorder() = default;

void OutsideRecorder::take(PerfRecord record) {
  switch (record.type) {
    case PerfRecordType::Sample:
      return sample(std::move(record));
    case PerfRecordType::Exec:
      return start_image(record);
    case PerfRecordType::Mapping:
      return map(record);
    case PerfRecordType::Fork:
      return fork(record);
    case PerfRecordType::Exit:
      return exit(record);
    case PerfRecordType::Name:
      rename(process_of(record), record);
      return;
    case PerfRecordType::SwitchIn:
      thread_of(process_of(record), record).running_since = record.time_ns;
      return;
    case PerfRecordType::SwitchOut: {
      Thread& thread = thread_of(process_of(record), record);
      thread.cpu_ns = thread.cpu_at(record.time_ns);
      thread.running_since.reset();
      return;
    }
    case PerfRecordType::Lost:
      if (Process& process = process_of(record); process.file)
        process.file->counter(Counter::DroppedRingFull) += record.lost;
      return;
  }
}

void OutsideRecorder::rename(Process& process, const PerfRecord& record) {
  Thread& thread = thread_of(process, record);
  thread.name = record.name;
  if (thread.announced)
    thread.written_name.note(*process.file, thread.index, thread.name.c_str(), record.time_ns);
}

OutsideRecorder::Process& OutsideRecorder::process_of(const PerfRecord& record) {
  std::unique_ptr<Process>& process = processes_[record.pid];
  if (!process) {
    process = std::make_unique<Process>();
    process->pid = record.pid;
    process->parent_pid = record.parent_pid;
    process->start_ns = record.time_ns;
  }
  return *process;
}

OutsideRecorder::Thread& OutsideRecorder::thread_of(Process& process, const PerfRecord& record) {
  std::unique_ptr<Thread>& thread = process.threads[record.tid];
  if (!thread) {
    thread = std::make_unique<Thread>();
    thread->tid = record.tid;
    thread->index = process.thread_count++;
    thread->start_ns = record.time_ns;
    thread->trace_ns = record.time_ns;
    if (process.file) process.file->counter(Counter::Threads) += 1;
  }
  return *thread;
}

// The process's threads but one are gone, its code is another; the clock of the one goes on.
void OutsideRecorder::start_image(const PerfRecord& record) {
  Process& old = process_of(record);
  close_file(old, record.time_ns);
  auto fresh = std::make_unique<Process>();
  fresh->pid = record.pid;
  fresh->parent_pid = old.parent_pid;
  fresh->start_ns = record.time_ns;
  Thread& thread = thread_of(*fresh, record);
  thread.name = record.name;
  thread.running_since = record.time_ns;
  processes_[record.pid] = std::move(fresh);
}

void OutsideRecorder::map(const PerfRecord& record) {
  Process& process = process_of(record);
  const PerfMapping& mapping = record.mapping;
  if (process.program.empty() && is_file(mapping.path)) {
    process.program = mapping.path;
    process.kind = hpcrun::program_kind(mapping.path.c_str());
    if (process.kind != ProgramKind::Dynamic) settle(process, true);
  }
  if (process.owner == Owner::Runtime) return;
  if (mapping.path.ends_with(kRuntime) && process.kind != ProgramKind::Go) return settle(process, false);
  const bool is_code_of_file = is_file(mapping.path) || mapping.path == "[vdso]";
  if (is_file(mapping.path) && mapping.path != process.program) {
    if (process.loader.empty()) process.loader = mapping.path;
    // The loader maps what is preloaded before anything else.
    if (process.owner == Owner::Undecided && mapping.path != process.loader) settle(process, true);
  }
  if (!is_code_of_file) return;
  MappedImage mapped;
  mapped.start = mapping.start;
  mapped.end = mapping.start + mapping.bytes;
  mapped.image = image(mapping.path);
  mapped.load_bias = mapped.image->load_bias(mapping.start, mapping.file_offset);
  for (const auto& [start, other] : process.space.mappings())
    if (other.image == mapped.image && other.load_bias == mapped.load_bias) mapped.module = other.module;
  const bool is_new = mapped.module == 0;
  if (is_new) mapped.module = ++process.module_count;
  process.space.map(std::move(mapped));
  if (is_new && process.file) announce_modules(process);
}

void OutsideRecorder::fork(const PerfRecord& record) {
  if (record.pid == record.parent_pid) {
    Process& process = process_of(record);
    const auto parent = process.threads.begin();
    const std::string name = parent == process.threads.end() ? "" : parent->second->name;
    thread_of(process, record).name = name;
    return;
  }
  PerfRecord of_parent;
  of_parent.pid = record.parent_pid;
  of_parent.time_ns = record.time_ns;
  Process& parent = process_of(of_parent);
  auto child = std::make_unique<Process>();
  child->pid = record.pid;
  child->parent_pid = record.parent_pid;
  child->start_ns = record.time_ns;
  child->program = parent.program;
  child->kind = parent.kind;
  child->owner = parent.owner;
  child->space = parent.space;
  child->module_count = parent.module_count;
  Thread& thread = thread_of(*child, record);
  if (!parent.threads.empty()) thread.name = parent.threads.begin()->second->name;
  if (child->owner == Owner::Ours) start_paused(*child);
  processes_[record.pid] = std::move(child);
}

void OutsideRecorder::exit(const PerfRecord& record) {
  Process& process = process_of(record);
  const auto at = process.threads.find(record.tid);
  if (at == process.threads.end()) return;
  close_thread(process, *at->second, record.time_ns);
  process.threads.erase(at);
  if (!process.threads.empty()) return;
  close_file(process, record.time_ns);
  processes_.erase(record.pid);
}

void OutsideRecorder::sample(PerfRecord record) {
  Process& process = process_of(record);
  if (process.owner == Owner::Runtime) return;
  Thread& thread = thread_of(process, record);
  if (!events_.contains(record.sample.event)) return;
  const uint64_t cpu_ns = thread.cpu_at(record.time_ns);
  const uint64_t weight = weight_of(thread, record, cpu_ns);
  // No user code yet: the kernel is executing the program's file.
  if (record.sample.registers.empty() && record.sample.callers.empty()) return;
  if (process.owner == Owner::Undecided)
    process.held.push_back({std::move(record), weight, cpu_ns});
  else
    record_sample(process, thread, record, weight, cpu_ns);
}

// How far the event's own clock went since the thread's last sample. Without the kernel's samples, a longer
// time than a period was spent there.
uint64_t OutsideRecorder::weight_of(Thread& thread, const PerfRecord& record, uint64_t cpu_ns) const {
  const hpcrun::EventSpec& event = plan_.events[events_.at(record.sample.event)];
  if (event.kind != EventKind::CpuTime) return record.sample.period;
  const uint64_t elapsed = cpu_ns > thread.sampled_cpu_ns ? cpu_ns - thread.sampled_cpu_ns : 0;
  thread.sampled_cpu_ns = cpu_ns;
  const uint64_t period = period_of(event);
  return plan_.samples_kernel || elapsed <= period + period / 2 ? elapsed : period;
}

void OutsideRecorder::record_sample(Process& process, Thread& thread, const PerfRecord& record,
                                    uint64_t weight, uint64_t cpu_ns) {
  if (!open_file(process) || !open_thread(process, thread)) return;
  if (is_paused(process, thread, record, cpu_ns)) return;
  last_sampled_ = process.pid;
  hpcrun::MeasurementFile& file = *process.file;
  const uint32_t event = events_.at(record.sample.event);
  if (plan_.events[event].kind == EventKind::CpuTime)
    weight = std::min(weight, record.time_ns - std::min(process.pauses.last_end(), record.time_ns));
  const OutsideStack stack = walk(process.space, record.sample);
  file.stack_counter(static_cast<uint8_t>(stack.reason)) += 1;
  Thread::Recording& recording = *thread.recording;
  const hpcrun::NodeId node =
      recording.tree.insert(stack.frames.data(), static_cast<uint32_t>(stack.frames.size()));
  if (node == hpcrun::kNoNode || !recording.tree.add(node, static_cast<uint16_t>(event), weight)) {
    file.counter(file.failure() ? Counter::DroppedFileFull : Counter::DroppedNoMemory) += 1;
    return;
  }
  file.counter(Counter::Samples) += 1;
  const hpcrun::EventSpec& spec = plan_.events[event];
  const uint64_t period = period_of(spec);
  if (spec.kind == EventKind::CpuTime && plan_.samples_kernel && weight > period + period / 2)
    file.counter(Counter::DroppedOverrun) += (weight + period / 2) / period - 1;
  if (!plan_.trace) return;
  const uint64_t wall_elapsed = record.time_ns - std::min(thread.trace_ns, record.time_ns);
  const uint64_t cpu_elapsed = cpu_ns - std::min(thread.trace_cpu_ns, cpu_ns);
  if (wall_elapsed > cpu_elapsed + kShortestGapNs) recording.trace.append_gap(record.time_ns - cpu_elapsed);
  recording.trace.append(record.time_ns, node);
  thread.trace_rests = false;
  thread.trace_ns = record.time_ns;
  thread.trace_cpu_ns = cpu_ns;
}

// The events go on in a pause: without them, switches and mappings would be missed.
bool OutsideRecorder::is_paused(Process& process, Thread& thread, const PerfRecord& record, uint64_t cpu_ns) {
  process.pauses.observe(*process.file);
  if (!process.pauses.covers(record.time_ns)) return false;
  if (plan_.trace) {
    if (!thread.trace_rests) thread.recording->trace.append_gap(record.time_ns);
    thread.trace_rests = true;
    thread.trace_ns = record.time_ns;
    thread.trace_cpu_ns = cpu_ns;
  }
  return true;
}

void OutsideRecorder::observe_pause() {
  const std::optional<uint64_t> end = run_pause_.observe();
  if (!end) return;
  // Whoever resumed the run may not have seen the files that were made meanwhile.
  for (const auto& [pid, process] : processes_)
    if (process->file && process->file->counter(Counter::PausedSinceNs).load() == process->start_ns)
      process->file->pause_switch().resume(*end);
}

// As the runtime does in processes that start while the run is paused.
void OutsideRecorder::start_paused(Process& process) {
  if (!run_pause_.covers(process.start_ns) || !open_file(process)) return;
  process.file->pause_switch().pause(process.start_ns);
  if (const std::optional<uint64_t> end = run_pause_.end()) process.file->pause_switch().resume(*end);
}

void OutsideRecorder::settle(Process& process, bool ours) {
  process.owner = ours ? Owner::Ours : Owner::Runtime;
  if (!ours) close_file(process, clock_ns(CLOCK_MONOTONIC));
  const std::vector<Process::HeldSample> held = std::move(process.held);
  process.held.clear();
  if (!ours) return;
  start_paused(process);
  for (const Process::HeldSample& one : held)
    record_sample(process, thread_of(process, one.record), one.record, one.weight, one.cpu_ns);
}

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
  info.environment = "";
  auto file = std::make_unique<hpcrun::MeasurementFile>();
  int error = EEXIST;
  for (int n = 0; n < kMostFilesOfOnePid && error == EEXIST; ++n) {
    const std::filesystem::path path =
        plan_.directory / fmt::format("{}-{}-{}-{}.prof", host.data(), std::max(rank, 0), process.pid, n);
    error = file->create(path.c_str(), info);
  }
  if (error) {
    if (!warned_)
      say("cannot write measurements to {}: {}; process {} runs on unmeasured (others that fail like it are "
          "not reported)",
          plan_.directory.string(), std::strerror(error), process.pid);
    warned_ = true;
    process.owner = Owner::Runtime;  // nothing more is tried
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
  process.file->abandon();
}

bool OutsideRecorder::open_file(Process& process) {
  if (process.file) return true;
  if (!create_file(process)) return false;
  process.file->counter(Counter::Threads) += process.thread_count;
  for (uint32_t index = 0; index < plan_.events.size(); ++index) {
    const hpcrun::EventSpec& event = plan_.events[index];
    if (event.kind == EventKind::RealTime) {
      process.file->write_note(
          "REALTIME is not sampled in programs that are sampled from outside: perf events do not count time "
          "that a thread waits.");
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
  process.file->write_note(why_outside(process.kind, process.program).c_str());
  announce_modules(process);
  return true;
}

void OutsideRecorder::announce_modules(Process& process) {
  for (const auto& [start, mapped] : process.space.mappings()) {
    const Image& image = *mapped.image;
    process.file->write_module(mapped.module, image.path().c_str(), mapped.start, mapped.end,
                               mapped.load_bias, image.build_id().data(),
                               static_cast<uint32_t>(image.build_id().size()));
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
  // One that is not known to be the runtime's by its end never got so far as to load it.
  if (process.owner == Owner::Undecided && !process.held.empty()) settle(process, true);
  if (!process.file) return;
  for (auto& [tid, thread] : process.threads) close_thread(process, *thread, now_ns);
  if (const int error = process.file->failure())
    say("stopped writing measurements to {}: {}; process {} was measured up to then",
        plan_.directory.string(), std::strerror(error), process.pid);
  process.file->finish(now_ns);
  process.file->abandon();  // unmaps and closes it
  process.file.reset();
}

void OutsideRecorder::account(uint64_t cpu_ns, uint64_t bytes) {
  const auto at = processes_.find(last_sampled_);
  if (at == processes_.end() || !at->second->file) return;
  hpcrun::MeasurementFile& file = *at->second->file;
  file.counter(Counter::HandlerNanoseconds) += cpu_ns;
  const uint64_t all = bytes + hpcrun::Arena::process_bytes_mapped() + file.bytes_mapped();
  if (file.counter(Counter::RuntimeBytes) < all) file.counter(Counter::RuntimeBytes) = all;
}

void OutsideRecorder::finish(uint64_t now_ns) {
  for (auto& [pid, process] : processes_) close_file(*process, now_ns);
  processes_.clear();
}

std::shared_ptr<const Image> OutsideRecorder::image(const std::string& path) {
  std::shared_ptr<const Image>& image = images_[path];
  if (!image) image = std::make_shared<const Image>(path);
  return image;
}

}  // namespace prof
