#include "hpcrun/sample/config.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "hpcrun/guest/environment.h"

namespace hpcrun {

namespace {

template <typename T>
bool parse_number(const char*& at, const char* end, T& out, int base) noexcept {
  const auto [next, error] = std::from_chars(at, end, out, base);
  if (error != std::errc{}) return false;
  at = next;
  return true;
}

bool skip(const char*& at, const char* end, char expected) noexcept {
  if (at == end || *at != expected) return false;
  ++at;
  return true;
}

}  // namespace

bool parse_event(const char* text, const char* end, EventSpec& out) noexcept {
  const char* at = std::find(text, end, '@');
  const auto length = static_cast<size_t>(at - text);
  if (length == 0 || length >= kMaxEventName) return false;
  memcpy(out.name, text, length);
  out.name[length] = '\0';
  if (!skip(at, end, '@') || !parse_number(at, end, out.rate, 10)) return false;
  if (out.rate < kMinRate || out.rate > kMaxRate) return false;

  const std::string_view name(out.name);
  if (name == "CPUTIME" || name == "REALTIME") {
    out.kind = name == "CPUTIME" ? EventKind::CpuTime : EventKind::RealTime;
    return at == end;
  }
  out.kind = EventKind::Perf;
  return skip(at, end, '#') && parse_number(at, end, out.perf_type, 16) && skip(at, end, '#') &&
         parse_number(at, end, out.perf_config, 16) && at == end;
}

bool parse_memory_event(const char* text, const char* end, EventSpec& out) noexcept {
  const auto number = [&](auto& value, char before, int base) {
    return skip(text, end, before) && parse_number(text, end, value, base);
  };
  uint8_t kind = 0;
  uint8_t excluded = 0;
  const bool is_whole = parse_number(text, end, kind, 10) && number(out.rate, '@', 10) &&
                        number(out.perf_type, '#', 16) && number(out.perf_config, '#', 16) &&
                        number(out.perf_config1, '#', 16) && number(out.perf_config2, '#', 16) &&
                        number(out.precise_ip, '#', 16) && number(excluded, '#', 16);
  if (!is_whole || text != end || out.rate < kMinRate || out.rate > kMaxRate || out.precise_ip > 3 ||
      kind < static_cast<uint8_t>(MemoryEvent::Operations) ||
      kind > static_cast<uint8_t>(MemoryEvent::Stores))
    return false;
  out.kind = EventKind::Memory;
  out.memory = static_cast<MemoryEvent>(kind);
  out.excludes_kernel = excluded != 0;
  return true;
}

namespace {

// Parses the memory events. Returns false, with no memory events set, if the text is malformed.
bool read_memory_events(const char* text, Config& out) noexcept {
  const char* const end = text + strlen(text);
  const char* at = std::find(text, end, ',');
  const std::string_view name(text, static_cast<size_t>(at - text));
  for (const MemoryHardware hardware : {MemoryHardware::Pebs, MemoryHardware::Ibs})
    if (name == name_of(hardware)) out.memory_hardware = hardware;
  const uint32_t users = out.event_count;
  bool is_good = out.memory_hardware != MemoryHardware::None;
  while (is_good && at < end && out.event_count < users + kMaxMemoryEvents) {
    const char* const begin = at + 1;
    at = std::find(begin, end, ',');
    is_good = parse_memory_event(begin, at, out.events[out.event_count]);
    ++out.event_count;
  }
  if (is_good && out.event_count > users) return true;
  out.memory_hardware = MemoryHardware::None;
  out.event_count = users;
  return false;
}

// Parses the repairs. Unknown ones are ignored.
void read_repairs(std::string_view text, Config& out) noexcept {
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view kind = text.substr(0, end);
    out.repairs_layout |= kind == kRepairLayout;
    out.repairs_locks |= kind == kRepairLocks;
    out.isolates_always |= kind == kRepairIsolateAlways;
    out.repairs_isolate |= kind == kRepairIsolate || kind == kRepairIsolateAlways;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Returns a value from the settings, or from the environment if `settings` is nullptr.
const char* value_of(const char* settings, const char* name) noexcept {
  if (!settings) return environment_value(name);
  const size_t length = strlen(name);
  for (; *settings; settings += strlen(settings) + 1)
    if (strncmp(settings, name, length) == 0 && settings[length] == '=') return settings + length + 1;
  return nullptr;
}

}  // namespace

bool read_config(Config& out) noexcept {
  return read_config(nullptr, out);
}

bool read_config(const char* settings, Config& out) noexcept {
  out.directory = value_of(settings, kEnvDirectory);
  const char* events = value_of(settings, kEnvEvents);
  if (!out.directory || !*out.directory || !events) return false;

  const char* end = events + strlen(events);
  while (events < end && out.event_count < kMaxEvents) {
    const char* next = std::find(events, end, ',');
    if (!parse_event(events, next, out.events[out.event_count])) return false;
    ++out.event_count;
    events = next < end ? next + 1 : end;
  }

  const char* search_rate = value_of(settings, kEnvSearchRate);
  if (search_rate && (!parse_number(search_rate, search_rate + strlen(search_rate), out.search_rate, 10) ||
                      *search_rate || out.search_rate > kMaxRate))
    return false;
  const char* trace = value_of(settings, kEnvTrace);
  out.trace = trace && std::string_view(trace) == "1";
  const char* contention = value_of(settings, kEnvContention);
  out.contention = contention && std::string_view(contention) == "1";
  out.contention_by_pages = contention && std::string_view(contention) == kContentionByPages;
  const char* memory = value_of(settings, kEnvMemoryEvents);
  if (out.contention && memory && *memory && !read_memory_events(memory, out)) return false;
  const char* locks = value_of(settings, kEnvLocks);
  out.locks = locks && std::string_view(locks) == "1";
  const char* waste = value_of(settings, kEnvWaste);
  if (waste &&
      (!parse_number(waste, waste + strlen(waste), out.waste_kinds, 10) || out.waste_kinds & ~kAllWasteKinds))
    return false;
  if (const char* const repairs = value_of(settings, kEnvRepair)) read_repairs(repairs, out);
  const char* plan = value_of(settings, kEnvRepairPlan);
  out.has_repair_plan = plan && std::string_view(plan) == "1";
  const char* device_trace = value_of(settings, kEnvDeviceTrace);
  if (device_trace && std::string_view(device_trace) == kSampledDeviceTrace && out.event_count > 0)
    out.device_trace_period_ns = 1'000'000'000 / out.events[0].rate;
  const char* mounts = value_of(settings, kEnvMounts);
  if (mounts && !parse_number(mounts, mounts + strlen(mounts), out.mounts, 10)) out.mounts = 0;
  const char* trigger = value_of(settings, kEnvTrigger);
  const std::string_view best = trigger ? trigger : "sigtrap";
  out.trigger = best == "timer" ? Trigger::Timer : best == "setsig" ? Trigger::Setsig : Trigger::Sigtrap;
  return out.event_count > 0;
}

}  // namespace hpcrun
