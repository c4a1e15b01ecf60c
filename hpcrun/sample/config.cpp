#include "hpcrun/sample/config.h"

#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

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

namespace {

// Looks up in the settings, or in the environment where there are none.
const char* value_of(const char* settings, const char* name) noexcept {
  if (!settings) return getenv(name);
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

  const char* trace = value_of(settings, kEnvTrace);
  out.trace = trace && std::string_view(trace) == "1";
  const char* contention = value_of(settings, kEnvContention);
  out.contention = contention && std::string_view(contention) == "1";
  const char* locks = value_of(settings, kEnvLocks);
  out.locks = locks && std::string_view(locks) == "1";
  const char* device_trace = value_of(settings, kEnvDeviceTrace);
  if (device_trace && std::string_view(device_trace) == kSampledDeviceTrace && out.event_count > 0)
    out.device_trace_period_ns = 1'000'000'000 / out.events[0].rate;
  const char* trigger = value_of(settings, kEnvTrigger);
  const std::string_view best = trigger ? trigger : "sigtrap";
  out.trigger = best == "timer" ? Trigger::Timer : best == "setsig" ? Trigger::Setsig : Trigger::Sigtrap;
  return out.event_count > 0;
}

}  // namespace hpcrun
