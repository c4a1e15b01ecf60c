#include "analysis/pipeline/run_summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/pipeline/nanosecond.h"
#include "analysis/pipeline/run_times.h"
#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

using Json = nlohmann::json;
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

// An argument as a shell would need it.
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

// The launcher does not see processes that nobody waited for, threads that were killed left no end, and
// what cannot be measured was not sampled: the largest of the three is the nearest to what was used.
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

Json describe_run(const Measurements& measurements, const std::vector<RunRecord>& records) {
  const MeasuredProcess& first = first_of(measurements).process;
  std::set<std::pair<std::string, int32_t>> processes;
  std::set<int32_t> ranks;
  // A process that execs leaves several files, and its thread goes on in each.
  std::set<std::tuple<std::string, int32_t, uint32_t>> threads;
  for (const ProcessMeasurement& measurement : measurements) {
    processes.emplace(measurement.process.host, measurement.process.pid);
    if (measurement.process.rank >= 0) ranks.insert(measurement.process.rank);
    for (const MeasuredThread& thread : measurement.threads)
      if (thread.kind == LineKind::Thread)
        threads.emplace(measurement.process.host, measurement.process.pid, thread.index);
  }

  const uint64_t unsampled = total(measurements, Counter::UnsampledChildren);  // of one thread each
  const auto start_s = static_cast<int64_t>(first.start_realtime_ns / 1'000'000'000);
  Json run = {
      {"command", first.command},
      {"host", first.host},
      {"start", iso_time(start_s)},
      {"processes", processes.size() + unsampled},
      {"threads", threads.size() + unsampled},
      {"ranks", ranks.size()},
  };
  if (const double cpu_s = cpu_seconds(measurements, records); cpu_s > 0) run["cpu_s"] = cpu_s;
  if (const uint64_t waited_ns = total(measurements, Counter::RunQueueNanoseconds); waited_ns > 0)
    run["run_queue_s"] = static_cast<double>(waited_ns) * kNanosecond;
  std::optional<double> wall_s = measured_seconds(measurements, records.size() == 1);

  const auto recorded = std::ranges::find_if(records, [](const RunRecord& r) { return !r.command.empty(); });
  if (recorded != records.end()) run["command"] = command_line(recorded->command);
  if (records.size() == 1) {
    const RunRecord& record = records.front();
    if (record.host) run["host"] = *record.host;
    if (record.start_s) run["start"] = iso_time(*record.start_s);
    if (record.wall_s) wall_s = std::max(*record.wall_s, wall_s.value_or(0));
  }
  if (wall_s) run["wall_s"] = *wall_s;
  if (const auto program_s = program_seconds(measurements)) run["program_s"] = *program_s;
  const bool alike = std::ranges::all_of(
      records, [&](const RunRecord& r) { return r.exit_status == records.front().exit_status; });
  if (alike && records.front().exit_status) run["exit_status"] = *records.front().exit_status;
  if (records.size() == 1 && records.front().signal.value_or(0) > 0) run["signal"] = *records.front().signal;
  return run;
}

// Of one metric. Where the processes were not all asked for the same rate there is none to compare with.
Json describe_rate(const Measurements& measurements, const MeasuredMetric& metric) {
  const MetricTotal sum = total_of(measurements, metric.name);
  Json rate = {{"source", metric.source}, {"samples", sum.samples}};
  bool alike = metric.requested_hz > 0;
  for (const ProcessMeasurement& measurement : measurements)
    for (const MeasuredMetric& other : measurement.metrics)
      alike &= other.name != metric.name || other.requested_hz == metric.requested_hz;
  if (alike) rate["requested_hz"] = metric.requested_hz;
  // Each sample carries the time since the one before it, so this is the rate over the time that was sampled.
  if (metric.unit == "sec" && sum.value > 0)
    rate["delivered_hz"] = static_cast<double>(sum.samples) / sum.value;
  return rate;
}

// The rate is that of the first metric that is sampled: of the clock, when there is one.
Json describe_sampling(const Measurements& measurements) {
  Json sampling = {{"samples", total(measurements, Counter::Samples)},
                   {"dropped", Json::object()},
                   {"metrics", Json::object()}};
  if (const double paused_s = longest_pause_seconds(measurements); paused_s > 0)
    sampling["paused_s"] = paused_s;
  for (const auto& [counter, name] : kDropReasons) {
    if (const uint64_t dropped = total(measurements, counter)) sampling["dropped"][name] = dropped;
  }
  for (const ProcessMeasurement& measurement : measurements) {
    for (const MeasuredMetric& metric : measurement.metrics) {
      if (sampling["metrics"].contains(metric.name)) continue;
      const Json& rate = sampling["metrics"][metric.name] = describe_rate(measurements, metric);
      if (sampling.contains("source") || metric.requested_hz <= 0) continue;
      for (const char* key : {"source", "requested_hz", "delivered_hz"})
        if (rate.contains(key)) sampling[key] = rate[key];
    }
  }
  return sampling;
}

Json describe_stacks(const Measurements& measurements) {
  Json stacks = {{"complete", 0u}, {"partial", 0u}, {"broken", 0u}, {"reasons", Json::object()}};
  constexpr const char* kClasses[] = {"complete", "partial", "broken"};
  for (size_t reason = 0; reason < std::size(kStackReasons); ++reason) {
    uint64_t count = 0;
    for (const ProcessMeasurement& measurement : measurements) count += measurement.stack_reasons[reason];
    if (count == 0) continue;
    Json& of_class = stacks[kClasses[static_cast<size_t>(stack_class(static_cast<StackReason>(reason)))]];
    of_class = of_class.get<uint64_t>() + count;
    stacks["reasons"][kStackReasons[reason]] = count;
  }
  return stacks;
}

// Of the process with the most: processes of a run mostly follow one another.
uint64_t runtime_bytes(const Measurements& measurements) {
  uint64_t most = 0;
  for (const ProcessMeasurement& measurement : measurements) {
    most = std::max(most, measurement.counter(Counter::RuntimeBytes));
  }
  return most;
}

// Handlers, and what each signal cost before its handler began, those that were skipped included; the
// launcher measured that or took a typical figure.
double overhead_seconds(const Measurements& measurements, const std::vector<RunRecord>& records) {
  double trigger = 0;
  for (const RunRecord& record : records) trigger = std::max(trigger, record.trigger_cost_s.value_or(0));
  return static_cast<double>(total(measurements, Counter::HandlerNanoseconds)) * kNanosecond +
         static_cast<double>(total(measurements, Counter::Samples) +
                             total(measurements, Counter::DroppedExpensive)) *
             trigger;
}

// What of that is no sample's; nothing where a process was measured by a version that did not count it.
std::optional<double> start_seconds(const Measurements& measurements) {
  const uint64_t start = total(measurements, Counter::StartNanoseconds);
  if (start == 0) return std::nullopt;
  return static_cast<double>(start) * kNanosecond;
}

Json describe_devices(const std::vector<DeviceUse>& devices) {
  Json all = Json::array();
  for (const DeviceUse& use : devices) {
    Json queues = Json::array();
    for (const DeviceUse::Queue& queue : use.queues)
      queues.push_back({{"profile", queue.profile}, {"name", queue.name}});
    all.emplace_back(fields_as_json<Json>(use))["queues"] = std::move(queues);
  }
  return all;
}

Json describe_locks(const LocksRecord& records) {
  Json json{
      {"locks", Json::array()}, {"blocked", Json::array()}, {"idle", Json::array()}, {"open", Json::array()}};
  for (const LockRecord& record : records.locks) {
    Json& lock = json["locks"].emplace_back(fields_as_json<Json>(record));
    lock["waiters"] = lock["holders"] = Json::array();
    for (const LockSide& side : record.waiters) lock["waiters"].push_back(fields_as_json<Json>(side));
    for (const LockSide& side : record.holders) lock["holders"].push_back(fields_as_json<Json>(side));
  }
  for (const BlockedRecord& record : records.blocked) json["blocked"].push_back(fields_as_json<Json>(record));
  for (const IdleRecord& record : records.idle) json["idle"].push_back(fields_as_json<Json>(record));
  for (const OpenWaitRecord& record : records.open) json["open"].push_back(fields_as_json<Json>(record));
  return json;
}

Json describe_repairs(const RepairsRecord& record) {
  Json json = fields_as_json<Json>(record);
  json["declined_locks"] = counts_as_json<Json>(record.declined_locks);
  json["sites"] = Json::array();
  for (const RepairsRecord::Site& site : record.sites) json["sites"].push_back(fields_as_json<Json>(site));
  json["pages"] = Json::array();
  for (const RepairsRecord::Page& page : record.pages) json["pages"].push_back(fields_as_json<Json>(page));
  return json;
}

Json describe_degradations(const Measurements& measurements, const std::vector<std::string>& warnings) {
  std::vector<std::string> texts;
  const auto add = [&](const std::string& text) {
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  };
  for (const ProcessMeasurement& measurement : measurements) {
    for (const MeasuredMetric& metric : measurement.metrics) add(metric.note);
    std::ranges::for_each(measurement.notes, add);
  }
  if (const uint64_t threads = total(measurements, Counter::UnsampledThreads)) {
    add(fmt::format("{} threads could not be sampled", threads));
  }
  std::ranges::for_each(warnings, add);
  return texts;
}

// By what contention was looked for in any process, as reports name it.
Json contention_sources(const std::vector<ProcessMeasurement>& measurements) {
  using Source = hpcrun::ContentionSource;
  Json sources = Json::array();
  for (const Source source : {Source::Pebs, Source::Ibs, Source::Breakpoints, Source::Pages})
    if (std::ranges::any_of(measurements, [source](const ProcessMeasurement& measurement) {
          return measurement.counter(Counter::LooksForContention) == static_cast<uint64_t>(source);
        }))
      sources.push_back(name_of(source));
  return sources;
}

}  // namespace

Json describe_contention(const std::vector<ContendedRecord>& records) {
  Json all = Json::array();
  for (const ContendedRecord& record : records) {
    Json& json = all.emplace_back(fields_as_json<Json>(record));
    json["changes"] = json["allocations"] = json["sides"] = Json::array();
    for (const auto& change : record.changes) json["changes"].push_back(fields_as_json<Json>(change));
    for (const auto& allocation : record.allocations)
      json["allocations"].push_back(fields_as_json<Json>(allocation));
    for (const auto& side : record.sides) json["sides"].push_back(fields_as_json<Json>(side));
  }
  return all;
}

std::string run_json(const std::vector<ProcessMeasurement>& measurements,
                     const std::vector<RunRecord>& records, const std::vector<DeviceUse>& devices,
                     const std::vector<ContendedRecord>* contention, const LocksRecord* locks,
                     const RepairsRecord& repairs, const std::vector<std::string>& warnings) {
  Json summary = {
      {"run", describe_run(measurements, records)},
      {"sampling", describe_sampling(measurements)},
      {"stacks", describe_stacks(measurements)},
      {"overhead",
       {{"cpu_s_estimate", overhead_seconds(measurements, records)},
        {"runtime_bytes", runtime_bytes(measurements)}}},
      {"degradations", describe_degradations(measurements, warnings)},
  };
  if (const auto start = start_seconds(measurements)) summary["overhead"]["start_s"] = *start;
  if (!devices.empty()) summary["devices"] = describe_devices(devices);
  if (contention) {
    summary["contention"] = describe_contention(*contention);
    summary["contention_sources"] = contention_sources(measurements);
  }
  if (locks) summary["locks"] = describe_locks(*locks);
  if (repairs.was_asked_for()) summary["repairs"] = describe_repairs(repairs);
  // Command lines and paths need not be UTF-8, JSON must be.
  return summary.dump(2, ' ', false, Json::error_handler_t::replace);
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
