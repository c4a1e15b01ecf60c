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

bool read_config(Config& out) noexcept {
  out.directory = getenv(kEnvDirectory);
  const char* events = getenv(kEnvEvents);
  if (!out.directory || !*out.directory || !events) return false;

  const char* end = events + strlen(events);
  while (events < end && out.event_count < kMaxEvents) {
    const char* next = std::find(events, end, ',');
    if (!parse_event(events, next, out.events[out.event_count])) return false;
    ++out.event_count;
    events = next < end ? next + 1 : end;
  }

  const char* trace = getenv(kEnvTrace);
  out.trace = trace && std::string_view(trace) == "1";
  const char* trigger = getenv(kEnvTrigger);
  const std::string_view best = trigger ? trigger : "sigtrap";
  out.trigger = best == "timer" ? Trigger::Timer : best == "setsig" ? Trigger::Setsig : Trigger::Sigtrap;
  return out.event_count > 0;
}

}  // namespace hpcrun
