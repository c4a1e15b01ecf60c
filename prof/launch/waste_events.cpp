#include "prof/launch/waste_events.h"

#include <algorithm>
#include <iterator>

#include "hpcrun/measurement/format.h"
#include "prof/base/message.h"

namespace prof {

namespace {

constexpr uint32_t kDefaultWasteRate = 100;  // of CPUTIME: costs 1 to 3 % of it

constexpr uint64_t bit(hpcrun::WasteKind kind) {
  return uint64_t{1} << static_cast<unsigned>(kind);
}

struct WasteEvent {
  const char* name;
  uint64_t kinds;
  const char* text;
};
constexpr WasteEvent kWasteEvents[] = {
    {"dead-stores", bit(hpcrun::WasteKind::DeadStore),
     "dead stores: memory overwritten before it is read; uses the samples of CPUTIME, 100 samples/s"},
    {"silent-stores", bit(hpcrun::WasteKind::SilentStore),
     "silent stores: memory overwritten with the value that it has already; the same rate"},
    {"redundant-loads", bit(hpcrun::WasteKind::RedundantLoad),
     "redundant loads: memory loaded again, unchanged; the same rate"},
    {"memory-waste", hpcrun::kAllWasteKinds,
     "dead stores, silent stores and redundant loads, which share the samples"},
};

const WasteEvent* find_waste_event(const std::string& text) {
  const std::string name = text.substr(0, text.rfind('@'));
  const auto* const found =
      std::ranges::find_if(kWasteEvents, [&](const WasteEvent& event) { return name == event.name; });
  return found == std::end(kWasteEvents) ? nullptr : found;
}

// Returns the rate of an event, "@RATE", or an empty text.
std::string rate_of(const std::string& text) {
  const size_t at = text.rfind('@');
  return at == std::string::npos ? "" : text.substr(at);
}

}  // namespace

uint64_t take_memory_waste(std::vector<std::string>& texts) {
  uint64_t kinds = 0;
  std::string rate;
  const bool names_clock = names_cpu_time(texts);
  for (const std::string& text : texts) {
    const WasteEvent* const event = find_waste_event(text);
    if (!event) continue;
    kinds |= event->kinds;
    const std::string own = rate_of(text);
    if (own.empty()) continue;
    if (names_clock)
      fail(kOwnFailure, "{} uses the samples of CPUTIME; set the rate with CPUTIME@RATE alone", event->name);
    if (!rate.empty() && rate != own)
      fail(kOwnFailure,
           "the events of memory waste share the samples of CPUTIME; give one rate, not {} and {}",
           rate.substr(1), own.substr(1));
    rate = own;
  }
  if (!kinds) return 0;
  std::erase_if(texts, [](const std::string& text) { return find_waste_event(text); });
  if (!names_clock)
    texts.push_back("CPUTIME" + (rate.empty() ? "@" + std::to_string(kDefaultWasteRate) : rate));
  return kinds;
}

std::vector<EventDescription> waste_events() {
  std::vector<EventDescription> events;
  for (const WasteEvent& event : kWasteEvents) events.push_back({event.name, event.text});
  return events;
}

}  // namespace prof
