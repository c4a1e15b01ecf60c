#include "analysis/pipeline/run_summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>

#include "analysis/database/utf8.h"
#include "analysis/pipeline/nanosecond.h"
#include "analysis/pipeline/run_times.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

using hpcrun::Counter;
using hpcrun::StackReason;

constexpr std::pair<Counter, const char*> kDropReasons[] = {
    {Counter::DroppedNoMemory, "no_memory"},
    {Counter::DroppedFileFull, "file_full"},
    {Counter::DroppedThreadUnready, "thread_unready"},
    {Counter::DroppedNested, "nested"},
    {Counter::DroppedOverrun, "overrun"},
    {Counter::DroppedRingFull, "ring_full"},
    {Counter::DroppedExpensive, "expensive"},
};

constexpr const char* kStackReasons[] = {
    "end_of_stack",       "thread_start",   "too_deep",       "foreign_stack",
    "jit_frame_pointer",  "no_unwind_info", "unknown_module", "unreadable_stack",
    "bad_return_address", "no_progress",    "unsupported",    "stack_cut",
    "generated_code",     "searched_leaf",  "chain_cut",      "walk_too_long",
};
static_assert(std::size(kStackReasons) == static_cast<size_t>(StackReason::Count));

using Measurements = std::vector<ProcessMeasurement>;

uint64_t total(const Measurements& measurements, Counter counter) {
  uint64_t sum = 0;
  for (const ProcessMeasurement& measurement : measurements) sum += measurement.counter(counter);
  return sum;
}

// Quotes an argument for a shell.
std::string quoted(const std::string& argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& argument : command) line += (line.empty() ? "" : " ") + quoted(argument);
  return line;
}

std::string iso_time(int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

struct MetricTotal {
  uint64_t samples = 0;
  double value = 0;
};

MetricTotal total_of(const Measurements& measurements, const std::string& metric) {
  MetricTotal sum;
  for (const ProcessMeasurement& measurement : measurements) {
    const auto same = std::ranges::find(measurement.metrics, metric, &MeasuredMetric::name);
    if (same == measurement.metrics.end()) continue;
    for (const MeasuredThread& thread : measurement.threads) {
      for (const MeasuredCell& cell : thread.cells) {
        if (cell.metric != same->id) continue;
        sum.samples += cell.samples;
        sum.value += static_cast<double>(cell.value) * same->scale;
      }
    }
  }
  return sum;
}

// The launcher misses processes that no process waited for. Threads that were killed left no end. Some
// threads could not be sampled. The largest of the three sums is nearest to the CPU time that was used.
double cpu_seconds(const Measurements& measurements, const std::vector<RunRecord>& records) {
  double launched = 0;
  for (const RunRecord& record : records) launched += record.cpu_s.value_or(0);
  uint64_t ended_ns = 0;
  for (const ProcessMeasurement& measurement : measurements)
    for (const MeasuredThread& thread : measurement.threads) ended_ns += thread.cpu_ns;
  return std::max(
      {launched, static_cast<double>(ended_ns) * kNanosecond, total_of(measurements, "CPUTIME").value});
}

const ProcessMeasurement& first_of(const Measurements& measurements) {
  return *std::ranges::min_element(measurements, {},
                                   [](const ProcessMeasurement& m) { return m.process.start_realtime_ns; });
}

void describe_run(const Measurements& measurements, const std::vector<RunRecord>& records, RunSummary& run) {
  const MeasuredProcess& first = first_of(measurements).process;
  std::set<std::pair<std::string, int32_t>> processes;
  std::set<int32_t> ranks;
  // A process that calls exec leaves several files, and its thread continues in each.
  std::set<std::tuple<std::string, int32_t, uint32_t>> threads;
  for (const ProcessMeasurement& measurement : measurements) {
    processes.emplace(measurement.process.host, measurement.process.pid);
    if (measurement.process.rank >= 0) ranks.insert(measurement.process.rank);
    for (const MeasuredThread& thread : measurement.threads)
      if (thread.kind == TrackKind::Thread)
        threads.emplace(measurement.process.host, measurement.process.pid, thread.index);
  }

  const uint64_t unsampled = total(measurements, Counter::UnsampledChildren);  // one thread each
  const auto start_s = static_cast<int64_t>(first.start_realtime_ns / 1'000'000'000);
  run.command = first.command;
  run.host = first.host;
  run.start = iso_time(start_s);
  run.processes = processes.size() + unsampled;
  run.threads = threads.size() + unsampled;
  run.ranks = ranks.size();
  if (const double cpu_s = cpu_seconds(measurements, records); cpu_s > 0) run.cpu_s = cpu_s;
  if (const uint64_t waited_ns = total(measurements, Counter::RunQueueNanoseconds); waited_ns > 0)
    run.run_queue_s = static_cast<double>(waited_ns) * kNanosecond;
  std::optional<double> wall_s = measured_seconds(measurements, records.size() == 1);

  const auto recorded = std::ranges::find_if(records, [](const RunRecord& r) { return !r.command.empty(); });
  if (recorded != records.end()) run.command = command_line(recorded->command);
  if (records.size() == 1) {
    const RunRecord& record = records.front();
    if (record.host) run.host = *record.host;
    if (record.start_s) run.start = iso_time(*record.start_s);
    if (record.wall_s) wall_s = std::max(*record.wall_s, wall_s.value_or(0));
  }
  run.wall_s = wall_s;
  run.program_s = program_seconds(measurements);
  const bool alike = std::ranges::all_of(
      records, [&](const RunRecord& r) { return r.exit_status == records.front().exit_status; });
  if (alike && records.front().exit_status) run.exit_status = records.front().exit_status;
  if (records.size() == 1 && records.front().signal.value_or(0) > 0) run.signal = records.front().signal;
}

// Returns the sampling rate of one metric. Without a common requested rate, the result has none.
Sampling rate_of(const Measurements& measurements, const MeasuredMetric& metric) {
  const MetricTotal sum = total_of(measurements, metric.name);
  Sampling rate{.source = metric.source, .requested_hz = {}, .delivered_hz = {}, .samples = sum.samples};
  bool alike = metric.requested_hz > 0;
  for (const ProcessMeasurement& measurement : measurements)
    for (const MeasuredMetric& other : measurement.metrics)
      alike &= other.name != metric.name || other.requested_hz == metric.requested_hz;
  if (alike) rate.requested_hz = metric.requested_hz;
  // Each sample carries the time since the previous one, so this is the rate over the sampled time.
  if (metric.unit == "sec" && sum.value > 0) rate.delivered_hz = static_cast<double>(sum.samples) / sum.value;
  return rate;
}

// Uses the rate of the first sampled metric, preferably the clock.
void describe_sampling(const Measurements& measurements, RunSummary& run) {
  run.sampling_recorded = true;
  if (const double paused_s = longest_pause_seconds(measurements); paused_s > 0) run.paused_s = paused_s;
  for (const auto& [counter, name] : kDropReasons)
    if (const uint64_t dropped = total(measurements, counter)) run.dropped[name] = dropped;
  bool has_rate = false;
  for (const ProcessMeasurement& measurement : measurements) {
    for (const MeasuredMetric& metric : measurement.metrics) {
      if (run.by_metric.contains(metric.name)) continue;
      const Sampling& rate = run.by_metric[metric.name] = rate_of(measurements, metric);
      if (has_rate || metric.requested_hz <= 0) continue;
      has_rate = true;
      run.sampling = rate;
    }
  }
  run.sampling.samples = total(measurements, Counter::Samples);
}

StackQuality stacks_of(const Measurements& measurements) {
  StackQuality stacks;
  uint64_t* const classes[] = {&stacks.complete, &stacks.partial, &stacks.broken};
  for (size_t reason = 0; reason < std::size(kStackReasons); ++reason) {
    uint64_t count = 0;
    for (const ProcessMeasurement& measurement : measurements) count += measurement.stack_reasons[reason];
    if (count == 0) continue;
    *classes[static_cast<size_t>(stack_class(static_cast<StackReason>(reason)))] += count;
    stacks.reasons[kStackReasons[reason]] = count;
  }
  return stacks;
}

// Returns the maximum over the processes, which mostly run one after another.
uint64_t runtime_bytes(const Measurements& measurements) {
  uint64_t most = 0;
  for (const ProcessMeasurement& measurement : measurements) {
    most = std::max(most, measurement.counter(Counter::RuntimeBytes));
  }
  return most;
}

// Returns the time in handlers, plus the cost of each signal before its handler began, skipped ones included.
// The launcher measured that cost or took a typical figure.
double overhead_seconds(const Measurements& measurements, const std::vector<RunRecord>& records) {
  double trigger = 0;
  for (const RunRecord& record : records) trigger = std::max(trigger, record.trigger_cost_s.value_or(0));
  return static_cast<double>(total(measurements, Counter::HandlerNanoseconds)) * kNanosecond +
         static_cast<double>(total(measurements, Counter::Samples) +
                             total(measurements, Counter::DroppedExpensive)) *
             trigger;
}

// Returns the part of the overhead that is not caused by samples; nullopt if no process recorded it.
std::optional<double> start_seconds(const Measurements& measurements) {
  const uint64_t start = total(measurements, Counter::StartNanoseconds);
  if (start == 0) return std::nullopt;
  return static_cast<double>(start) * kNanosecond;
}

// Each sentence once.
std::vector<Note> notes_of(const Measurements& measurements, const std::vector<std::string>& warnings) {
  using hpcrun::NoteKind;
  std::vector<Note> notes;
  const auto add = [&](const std::string& text, NoteKind kind = NoteKind::Run) {
    if (!text.empty() && std::ranges::find(notes, text, &Note::text) == notes.end())
      notes.push_back({kind, text});
  };
  for (const ProcessMeasurement& measurement : measurements) {
    for (const MeasuredMetric& metric : measurement.metrics) add(metric.note);
    for (const MeasuredNote& note : measurement.notes)
      add(note.text, note.kind == NoteKind::ByWords ? note_kind_by_words(note.text) : note.kind);
  }
  if (const uint64_t threads = total(measurements, Counter::UnsampledThreads)) {
    add(fmt::format("{} threads could not be sampled", threads));
  }
  for (const std::string& warning : warnings) add(warning);
  return notes;
}

// Returns the sources of evidence for contention that any process used.
std::vector<hpcrun::ContentionSource> contention_sources(const Measurements& measurements) {
  using Source = hpcrun::ContentionSource;
  std::vector<Source> sources;
  for (const Source source : {Source::Pebs, Source::Ibs, Source::Breakpoints, Source::Pages})
    if (std::ranges::any_of(measurements, [source](const ProcessMeasurement& measurement) {
          return measurement.counter(Counter::LooksForContention) == static_cast<uint64_t>(source);
        }))
      sources.push_back(source);
  return sources;
}

template <typename Record>
void make_fields_valid(Record& record) {
  for_each_field(record, [](const char*, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::string>)
      field = valid_utf8(field);
  });
}

}  // namespace

void make_valid_utf8(RunSummary& run) {
  for (std::string* const text : {&run.command, &run.host, &run.start, &run.sampling.source})
    *text = valid_utf8(*text);
  for (Note& note : run.notes) note.text = valid_utf8(note.text);
  for (auto& [name, sampling] : run.by_metric) sampling.source = valid_utf8(sampling.source);
  for (DeviceUse& use : run.devices) {
    make_fields_valid(use);
    for (DeviceUse::Queue& queue : use.queues) queue.name = valid_utf8(queue.name);
  }
  for (ContendedRecord& record : run.contention) {
    make_fields_valid(record);
    for (ContendedRecord::Change& change : record.changes) make_fields_valid(change);
    for (ContendedRecord::Side& side : record.sides) make_fields_valid(side);
  }
  for (LockRecord& lock : run.locks.locks) make_fields_valid(lock);
  for (OpenWaitRecord& wait : run.locks.open) make_fields_valid(wait);
  for (WastePair& pair : run.memory_waste.pairs) make_fields_valid(pair);
  for (RepairsRecord::Page& page : run.repairs.pages) make_fields_valid(page);
}

RunSummary summary_of(const Measurements& measurements, const std::vector<RunRecord>& records,
                      RecordsOfRun found, const std::vector<std::string>& warnings) {
  RunSummary run;
  describe_run(measurements, records, run);
  describe_sampling(measurements, run);
  run.stacks = stacks_of(measurements);
  run.overhead_cpu_s = overhead_seconds(measurements, records);
  run.overhead_start_s = start_seconds(measurements);
  run.runtime_bytes = runtime_bytes(measurements);
  run.notes = notes_of(measurements, warnings);
  run.devices = std::move(found.devices);
  if (found.contention) {
    run.looked_for_contention = true;
    run.contention = std::move(*found.contention);
    run.contention_sources = contention_sources(measurements);
  }
  if (found.locks) {
    run.followed_locks = true;
    run.locks = std::move(*found.locks);
  }
  if (found.memory_waste) run.memory_waste = std::move(*found.memory_waste);
  run.repairs = std::move(found.repairs);
  make_valid_utf8(run);
  return run;
}

std::string program_name(const std::vector<ProcessMeasurement>& measurements,
                         const std::vector<RunRecord>& records) {
  const auto file_name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  for (const RunRecord& record : records) {
    if (record.command.empty()) continue;
    if (const std::string name = file_name(record.command.front()); !name.empty()) return name;
  }
  const MeasuredProcess& first = first_of(measurements).process;
  const std::string name = file_name(first.executable);
  return name.empty() ? first.command : name;
}

}  // namespace prof
