#include "analysis/views/run_summary.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/database/stored_values.h"
#include "analysis/views/merged_contention.h"

namespace prof {
namespace {

using Json = nlohmann::json;

const Json& member(const Json& object, const char* name) {
  static const Json kAbsent;
  if (!object.is_object()) return kAbsent;
  const auto at = object.find(name);
  return at == object.end() ? kAbsent : *at;
}

// Times, rates and costs: nothing that was measured is negative or beyond this.
constexpr double kLargest = 1e18;

std::optional<double> number(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return number >= 0 && number <= kLargest ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> count(const Json& object, const char* name) {
  const std::optional<double> value = number(object, name);
  return value ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

Reasons reasons(const Json& object, const char* name) {
  Reasons result;
  const Json& value = member(object, name);
  if (!value.is_object()) return result;
  for (const auto& [reason, n] : value.items())
    if (n.is_number_unsigned() || (n.is_number_integer() && n.get<int64_t>() >= 0))
      result[reason] = n.get<uint64_t>();
  return result;
}

Sampling sampling_in(const Json& json) {
  return {text(json, "source"), number(json, "requested_hz"), number(json, "delivered_hz"),
          count(json, "samples")};
}

int32_t index_in(const Json& json, const char* name) {
  const std::optional<double> value = number(json, name);
  return value && *value <= INT32_MAX ? static_cast<int32_t>(*value) : -1;
}

void read_field(const Json& json, const char* name, std::string& field) {
  field = text(json, name);
}
void read_field(const Json& json, const char* name, int32_t& field) {
  field = index_in(json, name);
}
void read_field(const Json& json, const char* name, bool& field) {
  const Json& value = member(json, name);
  field = value.is_boolean() && value.get<bool>();
}
void read_field(const Json& json, const char* name, double& field) {
  field = number(json, name).value_or(0);
}
void read_field(const Json& json, const char* name, uint64_t& field) {
  field = count(json, name).value_or(0);
}

template <typename Enum>
requires std::is_enum_v<Enum>
void read_field(const Json& json, const char* name, Enum& field) {
  field = named<Enum>(text(json, name));
}

void read_field(const Json& json, const char* name, uint32_t& field) {
  field = static_cast<uint32_t>(std::min<uint64_t>(count(json, name).value_or(0), UINT32_MAX));
}

template <typename Record>
void read_fields(const Json& json, Record& record) {
  for_each_field(record, [&](const char* name, auto& value) { read_field(json, name, value); });
}

DeviceUse device_in(const Json& json, const Database& database) {
  DeviceUse use;
  read_fields(json, use);
  const Json& queues = member(json, "queues");
  if (!queues.is_array()) return use;
  for (const Json& queue : queues) {
    const std::optional<uint64_t> profile = count(queue, "profile");
    if (profile && *profile < database.profiles.size())
      use.queues.push_back({static_cast<uint32_t>(*profile), text(queue, "name")});
  }
  return use;
}

// Sides of threads or contexts that are not in the database are left out.
ContendedRecord contended_in(const Json& json, const Database& database) {
  ContendedRecord record;
  read_fields(json, record);
  record.processes = std::max<uint64_t>(record.processes, 1);
  if (const Json& changes = member(json, "changes"); changes.is_array())
    for (const Json& told : changes) read_fields(told, record.changes.emplace_back());
  if (const Json& allocations = member(json, "allocations"); allocations.is_array())
    for (const Json& told : allocations) {
      ContendedRecord::Allocation& allocation = record.allocations.emplace_back();
      read_fields(told, allocation);
      if (allocation.context >= database.contexts.size()) allocation.context = 0;
    }
  const Json& sides = member(json, "sides");
  if (!sides.is_array()) return record;
  for (const Json& told : sides) {
    ContendedRecord::Side side;
    read_fields(told, side);
    if (told.is_object() && side.bytes > 0 && side.profile < database.profiles.size() &&
        side.context < database.contexts.size() && side.line_offset < 64 && side.bytes <= 64 &&
        side.allocation <= record.allocations.size())
      record.sides.push_back(std::move(side));
  }
  return record;
}

template <typename Record>
Record lock_fields_in(const Json& json) {
  Record record;
  read_fields(json, record);
  return record;
}

// Contexts that are not in the database are left out.
std::vector<LockSide> lock_sides_in(const Json& json, const Database& database) {
  std::vector<LockSide> sides;
  if (!json.is_array()) return sides;
  for (const Json& told : json)
    if (const auto side = lock_fields_in<LockSide>(told); side.context < database.contexts.size())
      sides.push_back(side);
  return sides;
}

LocksRecord locks_in(const Json& json, const Database& database) {
  LocksRecord records;
  if (const Json& locks = member(json, "locks"); locks.is_array()) {
    for (const Json& told : locks) {
      auto lock = lock_fields_in<LockRecord>(told);
      lock.waiters = lock_sides_in(member(told, "waiters"), database);
      lock.holders = lock_sides_in(member(told, "holders"), database);
      if (lock.allocation >= database.contexts.size()) lock.allocation = 0;
      if (!lock.waiters.empty()) records.locks.push_back(std::move(lock));
    }
  }
  const auto read = [&]<typename Record>(const char* name, std::vector<Record>& list) {
    if (const Json& all = member(json, name); all.is_array())
      for (const Json& told : all)
        if (auto one = lock_fields_in<Record>(told); one.context < database.contexts.size())
          list.push_back(std::move(one));
  };
  read("blocked", records.blocked);
  read("idle", records.idle);
  read("open", records.open);
  return records;
}

RepairsRecord repairs_in(const Json& json, const Database& database) {
  RepairsRecord record;
  read_fields(json, record);
  for (const auto& [obstacle, n] : reasons(json, "declined_locks"))
    record.declined_locks[named<LockObstacle>(obstacle)] += n;
  if (const Json& sites = member(json, "sites"); sites.is_array())
    for (const Json& told : sites) {
      RepairsRecord::Site& site = record.sites.emplace_back();
      read_fields(told, site);
      if (site.context >= database.contexts.size()) site.context = 0;
    }
  if (const Json& pages = member(json, "pages"); pages.is_array())
    for (const Json& told : pages) read_fields(told, record.pages.emplace_back());
  return record;
}

void derive_from_profiles(const Database& database, RunSummary& summary) {
  std::set<std::tuple<std::string, int32_t, int32_t>> processes;
  std::set<int32_t> ranks;
  uint64_t samples = 0;
  for (const Profile& profile : database.profiles) {
    processes.emplace(profile.id.host, profile.id.rank, profile.id.process);
    if (profile.id.rank >= 0) ranks.insert(profile.id.rank);
    samples += profile.samples;
  }
  summary.command = database.title;
  summary.processes = processes.size();
  summary.threads = static_cast<uint64_t>(
      std::ranges::count_if(database.profiles, [](const Profile& profile) { return profile.id.device < 0; }));
  summary.ranks = ranks.size();
  if (samples > 0) summary.sampling.samples = samples;
}

struct KnownReason {
  std::string_view key, why, advice;
};

constexpr KnownReason kKnownReasons[] = {
    // How a complete walk ends: nothing to explain.
    {"endofstack", "", ""},
    {"threadstart", "", ""},
    {"foreignstack", "", ""},
    {"jitframepointer", "", ""},
    {"searchedleaf", "", ""},
    {"toodeep", "they are deeper than 8192 frames", "look for unbounded recursion"},
    {"lost", "the recording tool's buffers were full",
     "ask for larger ones (perf record -m) or for fewer samples per second"},
    {"nounwindinfo", "code on them has no unwind information",
     "build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"},
    // What helps depends on the runtime (code_generators.h).
    {"generatedcode", "code on them was made by a JIT compiler and keeps no frame pointers", ""},
    {"unknownmodule", "they lead to an address that belongs to no code", ""},
    {"unreadablestack", "stack memory could not be read", ""},
    {"badreturnaddress", "a return address points to no code",
     "look for hand-written assembly without unwind information"},
    {"noprogress", "unwinding stopped making progress",
     "look for hand-written assembly with wrong unwind information"},
    {"unsupported", "unwind information uses an expression that is not supported", ""},
    {"stackcut", "they go on beyond the piece of the stack that came with the sample",
     "link the program dynamically, and build C code that Go calls with -fno-omit-frame-pointer; let perf "
     "record more (--call-graph dwarf,65528)"},
    {"chaincut", "the kernel follows no more callers of a program that is sampled from outside",
     "let it follow more: sysctl kernel.perf_event_max_stack=1024"},
    {"ringfull", "prof did not come to read the kernel's buffers in time",
     "ask for fewer samples per second, or raise kernel.perf_event_mlock_kb"},
    {"nomemory", "the memory set aside for a thread was full", ""},
    {"filefull", "the measurement file could not grow",
     "free space on the disk, or write elsewhere with -o DIR"},
    {"threadunready", "threads were just starting or ending", ""},
    {"nested", "the profiler itself was at work on the thread", ""},
    {"expensive", "sampling would have taken too much of the program's time",
     "ask for fewer samples per second; no time is lost, the next sample stands for it"},
    {"walktoolong", "they lead through too much code without unwind information",
     "let the JIT compiler keep frame pointers; the frames up to there are kept"},
    {"overrun", "the kernel merged several into one",
     "ask for fewer samples per second, or for fewer busy threads than processors"},
    {"fault", "the stack could not be read safely", ""},
};

std::string normalized(std::string_view reason) {
  std::string key;
  for (const char c : reason)
    if (std::isalnum(static_cast<unsigned char>(c)))
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key.starts_with("dropped") ? key.substr(7) : key;
}

}  // namespace

uint64_t RunSummary::dropped_samples() const {
  uint64_t all = 0;
  for (const auto& [reason, n] : dropped) all += n;
  return all;
}

RunSummary run_summary(const Database& database) {
  RunSummary summary;
  derive_from_profiles(database, summary);
  const Json json = Json::parse(database.run_json, nullptr, false);

  const Json& run = member(json, "run");
  if (const std::string command = text(run, "command"); !command.empty()) summary.command = command;
  summary.host = text(run, "host");
  summary.start = text(run, "start");
  summary.wall_s = number(run, "wall_s");
  summary.program_s = number(run, "program_s");
  summary.run_queue_s = number(run, "run_queue_s");
  summary.cpu_s = number(run, "cpu_s");
  if (const auto status = count(run, "exit_status")) summary.exit_status = static_cast<int64_t>(*status);
  if (const auto signal = count(run, "signal")) summary.signal = static_cast<int64_t>(*signal);
  summary.processes = count(run, "processes").value_or(summary.processes);
  summary.threads = count(run, "threads").value_or(summary.threads);
  summary.ranks = count(run, "ranks").value_or(summary.ranks);

  const Json& sampling = member(json, "sampling");
  const std::optional<uint64_t> counted = summary.sampling.samples;
  summary.sampling_recorded = sampling.is_object();
  summary.sampling = sampling_in(sampling);
  if (!summary.sampling.samples) summary.sampling.samples = counted;
  if (const Json& metrics = member(sampling, "metrics"); metrics.is_object())
    for (const auto& [name, metric] : metrics.items()) summary.by_metric[name] = sampling_in(metric);
  summary.dropped = reasons(sampling, "dropped");
  summary.paused_s = number(sampling, "paused_s");

  const Json& stacks = member(json, "stacks");
  if (stacks.is_object()) {
    summary.stacks = StackQuality{count(stacks, "complete").value_or(0), count(stacks, "partial").value_or(0),
                                  count(stacks, "broken").value_or(0), reasons(stacks, "reasons")};
  }
  const Json& overhead = member(json, "overhead");
  summary.overhead_cpu_s = number(overhead, "cpu_s_estimate");
  summary.overhead_start_s = number(overhead, "start_s");
  summary.runtime_bytes = count(overhead, "runtime_bytes");
  const Json& devices = member(json, "devices");
  if (devices.is_array())
    for (const Json& device : devices) summary.devices.push_back(device_in(device, database));
  const Json& contention = member(json, "contention");
  if (contention.is_array()) {
    summary.looked_for_contention = true;
    for (const Json& record : contention) summary.contention.push_back(contended_in(record, database));
    summary.contention = merge_processes(std::move(summary.contention));
  }
  const Json& sources = member(json, "contention_sources");
  if (sources.is_array())
    for (const Json& source : sources)
      if (source.is_string())
        summary.contention_sources.push_back(named<hpcrun::ContentionSource>(source.get<std::string>()));
  if (const Json& locks = member(json, "locks"); locks.is_object()) {
    summary.followed_locks = true;
    summary.locks = locks_in(locks, database);
  }
  if (const Json& repairs = member(json, "repairs"); repairs.is_object())
    summary.repairs = repairs_in(repairs, database);
  const Json& degradations = member(json, "degradations");
  if (degradations.is_array()) {
    for (const Json& degradation : degradations)
      if (degradation.is_string()) summary.degradations.push_back(degradation.get<std::string>());
  }
  return summary;
}

Sampling shown_sampling(const CallTree& tree, const RunSummary& run) {
  Sampling sampling = run.sampling;
  if (tree.metrics() == 0) return sampling;
  if (const auto own = run.by_metric.find(tree.metric(0).name); own != run.by_metric.end())
    sampling = own->second;
  if (tree.selection.every_profile || !sampling.samples) return sampling;
  const Database& database = *tree.database;
  double all = 0;
  std::vector<ProfileValue> buffer;
  for (uint32_t profile = 0; profile < database.profiles.size(); ++profile)
    for (const ProfileValue& value : values_of(database, profile, buffer, tree.selection.metrics[0]))
      if (value.metric == tree.selection.metrics[0] && database.contexts[value.context].parent == kNone)
        all += value.values.inclusive;
  const double share = all > 0 ? std::min(1.0, tree.totals[0] / all) : 0;
  sampling.samples = static_cast<uint64_t>(std::llround(static_cast<double>(*sampling.samples) * share));
  return sampling;
}

ReasonWords words_for_reason(const std::string& reason) {
  const std::string key = normalized(reason);
  for (const KnownReason& known : kKnownReasons)
    if (known.key == key) return {std::string(known.why), std::string(known.advice)};
  return {reason, ""};
}

bool loses_no_time(const std::string& reason) {
  return normalized(reason) == "overrun";
}

}  // namespace prof
