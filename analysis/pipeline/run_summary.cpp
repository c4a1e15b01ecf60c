#include "analysis/pipeline/run_summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "hpcrun/unwind/frame.h"

namespace prof {
namespace {

using Json = nlohmann::json;
using hpcrun::Counter;
using hpcrun::StackReason;

constexpr double kNanosecond = 1e-9;

constexpr std::pair<Counter, const char*> kDropReasons[] = {
    {Counter::DroppedNoMemory, "no_memory"},
    {Counter::DroppedFileFull, "file_full"},
    {Counter::DroppedThreadUnready, "thread_unready"},
    {Counter::DroppedNested, "nested"},
    {Counter::DroppedOverrun, "overrun"},
};

constexpr const char* kStackReasons[] = {
    "end_of_stack",       "thread_start",   "too_deep",       "foreign_stack",
    "jit_frame_pointer",  "no_unwind_info", "unknown_module", "unreadable_stack",
    "bad_return_address", "no_progress",    "unsupported",
};
static_assert(std::size(kStackReasons) == static_cast<size_t>(StackReason::Count));

using Measurements = std::vector<ProcessMeasurement>;

uint64_t total(const Measurements& measurements, Counter counter) {
  uint64_t sum = 0;
  for (const ProcessMeasurement& measurement : measurements) sum += measurement.counter(counter);
  return sum;
}

Json read_run_record(const std::vector<std::filesystem::path>& directories) {
  for (const std::filesystem::path& directory : directories) {
    std::ifstream in(directory / "run.json");
    Json record = Json::parse(in, nullptr, false);
    if (record.is_object()) return record;
  }
  return Json::object();
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

std::string command_line(const Json& command) {
  if (command.is_string()) return command.get<std::string>();
  std::string line;
  for (const Json& argument : command) {
    if (argument.is_string()) line += (line.empty() ? "" : " ") + quoted(argument.get<std::string>());
  }
  return line;
}

std::string iso_time(uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

// When the process was last seen on its own clock, in ns since the epoch.
uint64_t end_of(const ProcessMeasurement& measurement) {
  uint64_t end = std::max(measurement.process.start_monotonic_ns, measurement.process.end_monotonic_ns);
  for (const MeasuredThread& thread : measurement.threads) end = std::max(end, thread.end_ns);
  return end - measurement.process.start_monotonic_ns + measurement.process.start_realtime_ns;
}

Json describe_run(const Measurements& measurements, const Json& record) {
  const ProcessMeasurement& first = *std::ranges::min_element(
      measurements, {}, [](const ProcessMeasurement& m) { return m.process.start_realtime_ns; });
  std::set<std::pair<std::string, int32_t>> processes;
  std::set<int32_t> ranks;
  // A process that execs leaves several files, and its thread goes on in each.
  std::set<std::tuple<std::string, int32_t, uint32_t>> threads;
  uint64_t end = 0;
  uint64_t cpu_ns = 0;
  for (const ProcessMeasurement& measurement : measurements) {
    processes.emplace(measurement.process.host, measurement.process.pid);
    if (measurement.process.rank >= 0) ranks.insert(measurement.process.rank);
    end = std::max(end, end_of(measurement));
    for (const MeasuredThread& thread : measurement.threads) {
      threads.emplace(measurement.process.host, measurement.process.pid, thread.index);
      cpu_ns += thread.cpu_ns;
    }
  }

  Json run = {
      {"command", first.process.command},
      {"host", first.process.host},
      {"start", iso_time(first.process.start_realtime_ns)},
      {"wall_s", static_cast<double>(end - first.process.start_realtime_ns) * kNanosecond},
      {"processes", processes.size()},
      {"threads", threads.size()},
      {"ranks", ranks.size()},
  };
  if (cpu_ns != 0) run["cpu_s"] = static_cast<double>(cpu_ns) * kNanosecond;
  if (record.contains("command")) run["command"] = command_line(record["command"]);
  for (const char* name : {"host", "start", "wall_s", "cpu_s", "exit_status"}) {
    if (record.contains(name)) run[name] = record[name];
  }
  return run;
}

// The rate of the first metric that is sampled: of the clock, when there is one.
Json describe_sampling(const Measurements& measurements) {
  const MeasuredMetric* metric = nullptr;
  for (const ProcessMeasurement& measurement : measurements) {
    for (const MeasuredMetric& candidate : measurement.metrics) {
      if (metric == nullptr && candidate.requested_hz > 0) metric = &candidate;
    }
  }
  Json sampling = {{"samples", total(measurements, Counter::Samples)}, {"dropped", Json::object()}};
  for (const auto& [counter, name] : kDropReasons) {
    if (const uint64_t dropped = total(measurements, counter)) sampling["dropped"][name] = dropped;
  }
  if (metric == nullptr) return sampling;

  sampling["source"] = metric->source;
  sampling["requested_hz"] = metric->requested_hz;
  uint64_t samples = 0;
  double seconds = 0;
  for (const ProcessMeasurement& measurement : measurements) {
    const auto same = std::ranges::find(measurement.metrics, metric->name, &MeasuredMetric::name);
    if (same == measurement.metrics.end()) continue;
    for (const MeasuredThread& thread : measurement.threads) {
      for (const MeasuredCell& cell : thread.cells) {
        if (cell.metric != same->id) continue;
        samples += cell.samples;
        seconds += static_cast<double>(cell.value) * same->scale;
      }
    }
  }
  // Each sample carries the time since the one before it, so this is the rate over the time that was sampled.
  if (metric->unit == "sec" && seconds > 0) sampling["delivered_hz"] = static_cast<double>(samples) / seconds;
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

// Handlers, and what each signal cost before its handler began; the launcher measured that or took a typical
// figure.
double overhead_seconds(const Measurements& measurements, const Json& record) {
  const auto cost = record.find("trigger_cost_s");
  const double trigger = cost != record.end() && cost->is_number() ? std::max(0.0, cost->get<double>()) : 0;
  return static_cast<double>(total(measurements, Counter::HandlerNanoseconds)) * kNanosecond +
         static_cast<double>(total(measurements, Counter::Samples)) * trigger;
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

}  // namespace

std::string run_json(const std::vector<ProcessMeasurement>& measurements,
                     const std::vector<std::filesystem::path>& directories,
                     const std::vector<std::string>& warnings) {
  const Json record = read_run_record(directories);
  const Json summary = {
      {"run", describe_run(measurements, record)},
      {"sampling", describe_sampling(measurements)},
      {"stacks", describe_stacks(measurements)},
      {"overhead",
       {{"cpu_s_estimate", overhead_seconds(measurements, record)},
        {"runtime_bytes", runtime_bytes(measurements)}}},
      {"degradations", describe_degradations(measurements, warnings)},
  };
  // Command lines and paths need not be UTF-8, JSON must be.
  return summary.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string program_name(const std::vector<ProcessMeasurement>& measurements) {
  const ProcessMeasurement& first = *std::ranges::min_element(
      measurements, {}, [](const ProcessMeasurement& m) { return m.process.start_realtime_ns; });
  const std::string name = std::filesystem::path(first.process.executable).filename().string();
  return name.empty() ? first.process.command : name;
}

}  // namespace prof
