#include "analysis/run/run_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/run/record_fields.h"

namespace prof {
namespace {

using Json = nlohmann::json;

const Json& member(const Json& object, const char* name) {
  static const Json kAbsent;
  if (!object.is_object()) return kAbsent;
  const auto at = object.find(name);
  return at == object.end() ? kAbsent : *at;
}

// Limits times, rates and costs: no measured value is negative or larger than this.
constexpr double kMaxNumber = 1e18;

std::optional<double> number(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  return number >= 0 && number <= kMaxNumber ? std::optional(number) : std::nullopt;
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

template <typename Record>
void read_list(const Json& json, const char* name, std::vector<Record>& list) {
  if (const Json& all = member(json, name); all.is_array())
    for (const Json& one : all) read_fields(one, list.emplace_back());
}

DeviceUse device_in(const Json& json) {
  DeviceUse use;
  read_fields(json, use);
  const Json& queues = member(json, "queues");
  if (!queues.is_array()) return use;
  for (const Json& queue : queues) {
    const std::optional<uint64_t> profile = count(queue, "profile");
    if (profile && *profile <= UINT32_MAX)
      use.queues.push_back({static_cast<uint32_t>(*profile), text(queue, "name")});
  }
  return use;
}

ContendedRecord contended_in(const Json& json) {
  ContendedRecord record;
  read_fields(json, record);
  record.processes = std::max<uint64_t>(record.processes, 1);
  read_list(json, "changes", record.changes);
  read_list(json, "allocations", record.allocations);
  read_list(json, "sides", record.sides);
  return record;
}

LocksRecord locks_in(const Json& json) {
  LocksRecord records;
  if (const Json& locks = member(json, "locks"); locks.is_array()) {
    for (const Json& item : locks) {
      LockRecord& lock = records.locks.emplace_back();
      read_fields(item, lock);
      read_list(item, "waiters", lock.waiters);
      read_list(item, "holders", lock.holders);
    }
  }
  read_list(json, "blocked", records.blocked);
  read_list(json, "idle", records.idle);
  read_list(json, "open", records.open);
  return records;
}

RepairsRecord repairs_in(const Json& json) {
  RepairsRecord record;
  read_fields(json, record);
  for (const auto& [obstacle, n] : reasons(json, "declined_locks"))
    record.declined_locks[named<LockObstacle>(obstacle)] += n;
  read_list(json, "sites", record.sites);
  read_list(json, "pages", record.pages);
  return record;
}

MemoryWasteRecord memory_waste_in(const Json& json) {
  MemoryWasteRecord record;
  record.was_searched = true;
  read_fields(json, record);
  read_list(json, "totals", record.totals);
  read_list(json, "pairs", record.pairs);
  return record;
}

// Databases of older versions have sentences without a kind.
std::vector<Note> notes_in(const Json& json) {
  std::vector<Note> notes;
  const Json& known = member(json, "notes");
  if (known.is_array()) {
    for (const Json& note : known)
      notes.push_back({named<hpcrun::NoteKind>(text(note, "kind")), text(note, "text")});
    return notes;
  }
  if (const Json& degradations = member(json, "degradations"); degradations.is_array())
    for (const Json& degradation : degradations)
      if (degradation.is_string()) {
        auto sentence = degradation.get<std::string>();
        const hpcrun::NoteKind kind = note_kind_by_words(sentence);
        notes.push_back({kind, std::move(sentence)});
      }
  return notes;
}

template <typename Record>
Json list_as_json(const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) list.push_back(fields_as_json<Json>(record));
  return list;
}

void put(Json& json, const char* name, const auto& optional) {
  if (optional) json[name] = *optional;
}

void put_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

Json run_as_json_object(const RunSummary& run) {
  Json json = Json::object();
  put_text(json, "command", run.command);
  put_text(json, "host", run.host);
  put_text(json, "start", run.start);
  if (run.processes > 0)
    json.update({{"processes", run.processes}, {"threads", run.threads}, {"ranks", run.ranks}});
  put(json, "wall_s", run.wall_s);
  put(json, "program_s", run.program_s);
  put(json, "run_queue_s", run.run_queue_s);
  put(json, "cpu_s", run.cpu_s);
  put(json, "exit_status", run.exit_status);
  put(json, "signal", run.signal);
  return json;
}

Json rate_as_json(const Sampling& sampling) {
  Json json = Json::object();
  put_text(json, "source", sampling.source);
  put(json, "requested_hz", sampling.requested_hz);
  put(json, "delivered_hz", sampling.delivered_hz);
  put(json, "samples", sampling.samples);
  return json;
}

Json sampling_as_json(const RunSummary& run) {
  Json json = rate_as_json(run.sampling);
  json["dropped"] = run.dropped;
  put(json, "paused_s", run.paused_s);
  json["metrics"] = Json::object();
  for (const auto& [name, sampling] : run.by_metric) json["metrics"][name] = rate_as_json(sampling);
  return json;
}

Json devices_as_json(const std::vector<DeviceUse>& devices) {
  Json all = Json::array();
  for (const DeviceUse& use : devices) {
    Json queues = Json::array();
    for (const DeviceUse::Queue& queue : use.queues)
      queues.push_back({{"profile", queue.profile}, {"name", queue.name}});
    all.emplace_back(fields_as_json<Json>(use))["queues"] = std::move(queues);
  }
  return all;
}

Json contention_as_json(const std::vector<ContendedRecord>& records) {
  Json all = Json::array();
  for (const ContendedRecord& record : records) {
    Json& json = all.emplace_back(fields_as_json<Json>(record));
    json["changes"] = list_as_json(record.changes);
    json["allocations"] = list_as_json(record.allocations);
    json["sides"] = list_as_json(record.sides);
  }
  return all;
}

Json locks_as_json(const LocksRecord& records) {
  Json json{{"locks", Json::array()}};
  for (const LockRecord& record : records.locks) {
    Json& lock = json["locks"].emplace_back(fields_as_json<Json>(record));
    lock["waiters"] = list_as_json(record.waiters);
    lock["holders"] = list_as_json(record.holders);
  }
  json["blocked"] = list_as_json(records.blocked);
  json["idle"] = list_as_json(records.idle);
  json["open"] = list_as_json(records.open);
  return json;
}

Json memory_waste_as_json(const MemoryWasteRecord& record) {
  Json json = fields_as_json<Json>(record);
  json["totals"] = list_as_json(record.totals);
  json["pairs"] = list_as_json(record.pairs);
  return json;
}

Json repairs_as_json(const RepairsRecord& record) {
  Json json = fields_as_json<Json>(record);
  json["declined_locks"] = counts_as_json<Json>(record.declined_locks);
  json["sites"] = list_as_json(record.sites);
  json["pages"] = list_as_json(record.pages);
  return json;
}

}  // namespace

Json run_as_json(const RunSummary& run) {
  Json json{{"run", run_as_json_object(run)}, {"degradations", sentences(run.notes)}};
  json["notes"] = Json::array();
  for (const Note& note : run.notes)
    json["notes"].push_back({{"kind", name_of(note.kind)}, {"text", note.text}});
  if (run.sampling_recorded) json["sampling"] = sampling_as_json(run);
  if (run.stacks)
    json["stacks"] = {{"complete", run.stacks->complete},
                      {"partial", run.stacks->partial},
                      {"broken", run.stacks->broken},
                      {"reasons", run.stacks->reasons}};
  Json overhead = Json::object();
  put(overhead, "cpu_s_estimate", run.overhead_cpu_s);
  put(overhead, "start_s", run.overhead_start_s);
  put(overhead, "runtime_bytes", run.runtime_bytes);
  if (!overhead.empty()) json["overhead"] = std::move(overhead);
  if (!run.devices.empty()) json["devices"] = devices_as_json(run.devices);
  if (run.looked_for_contention) json["contention"] = contention_as_json(run.contention);
  if (!run.contention_sources.empty()) {
    Json& sources = json["contention_sources"] = Json::array();
    for (const hpcrun::ContentionSource source : run.contention_sources) sources.push_back(name_of(source));
  }
  if (run.followed_locks) json["locks"] = locks_as_json(run.locks);
  if (run.memory_waste.was_searched) json["memory_waste"] = memory_waste_as_json(run.memory_waste);
  if (run.repairs.was_asked_for()) json["repairs"] = repairs_as_json(run.repairs);
  return json;
}

RunSummary run_in(const Json& json, RunLimits limits) {
  RunSummary summary;
  const Json& run = member(json, "run");
  summary.command = text(run, "command");
  summary.host = text(run, "host");
  summary.start = text(run, "start");
  summary.wall_s = number(run, "wall_s");
  summary.program_s = number(run, "program_s");
  summary.run_queue_s = number(run, "run_queue_s");
  summary.cpu_s = number(run, "cpu_s");
  if (const auto status = count(run, "exit_status")) summary.exit_status = static_cast<int64_t>(*status);
  if (const auto signal = count(run, "signal")) summary.signal = static_cast<int64_t>(*signal);
  summary.processes = count(run, "processes").value_or(0);
  summary.threads = count(run, "threads").value_or(0);
  summary.ranks = count(run, "ranks").value_or(0);

  const Json& sampling = member(json, "sampling");
  summary.sampling_recorded = sampling.is_object();
  summary.sampling = sampling_in(sampling);
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
    for (const Json& device : devices) summary.devices.push_back(device_in(device));
  const Json& contention = member(json, "contention");
  if (contention.is_array()) {
    summary.looked_for_contention = true;
    for (const Json& record : contention) summary.contention.push_back(contended_in(record));
  }
  const Json& sources = member(json, "contention_sources");
  if (sources.is_array())
    for (const Json& source : sources)
      if (source.is_string())
        summary.contention_sources.push_back(named<hpcrun::ContentionSource>(source.get<std::string>()));
  if (const Json& locks = member(json, "locks"); locks.is_object()) {
    summary.followed_locks = true;
    summary.locks = locks_in(locks);
  }
  if (const Json& waste = member(json, "memory_waste"); waste.is_object())
    summary.memory_waste = memory_waste_in(waste);
  if (const Json& repairs = member(json, "repairs"); repairs.is_object())
    summary.repairs = repairs_in(repairs);
  summary.notes = notes_in(json);
  remove_strays(summary, limits);
  return summary;
}

}  // namespace prof
