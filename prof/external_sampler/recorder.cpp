#include "prof/external_sampler/recorder.h"

#include <algorithm>

#include "prof/external_sampler/recorded_process.h"

namespace prof {

using hpcrun::Counter;
using hpcrun::EventKind;
using hpcrun::ProgramKind;

namespace {

constexpr uint64_t kShortestGapNs = 2'000'000;  // in a trace; scheduling noise is shorter

// A process that maps it measures itself.
constexpr char kRuntime[] = "/libprof-runtime.so";

uint64_t period_of(const hpcrun::EventSpec& event) {
  return 1'000'000'000u / event.rate;
}

bool is_device_library(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libOpenCL.so") || name.starts_with("libcuda.so");
}

bool is_file(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("//");
}

}  // namespace

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

// All but one of the process's threads are gone, and its code is replaced. The remaining thread's clock
// continues.
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
  if (mapping.path.ends_with(kRuntime) && process.kind != ProgramKind::Go &&
      process.kind != ProgramKind::Sanitized)
    return settle(process, false);
  const bool is_code_of_file = is_file(mapping.path) || mapping.path == "[vdso]";
  if (is_file(mapping.path) && mapping.path != process.program) {
    if (process.loader.empty()) process.loader = mapping.path;
    // The loader maps preloaded libraries before anything else.
    if (process.owner == Owner::Undecided && mapping.path != process.loader) settle(process, true);
  }
  if (!is_code_of_file) return;
  if (!process.has_device_library && is_device_library(mapping.path)) {
    process.has_device_library = true;
    if (process.file) note_devices(process);
  }
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

// Returns how far the event's own clock advanced since the thread's last sample. Without samples of the
// kernel, any time beyond a period was spent there.
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

// The events continue during a pause. Otherwise switches and mappings would be missed.
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
  // The process that resumed the run may have missed files that were created meanwhile.
  for (const auto& [pid, process] : processes_)
    if (process->file && process->file->counter(Counter::PausedSinceNs).load() == process->start_ns)
      process->file->pause_switch().resume(*end);
}

// Does what the runtime does in processes that start while the run is paused.
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
