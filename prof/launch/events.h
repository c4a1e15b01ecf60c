#pragma once
// Events by the names that users type.

#include <cstdint>
#include <string>
#include <vector>

#include "hpcrun/sample/config.h"

namespace prof {

// Parses the events of a run, each `NAME` or `NAME@RATE`; CPUTIME if there are none. Throws CommandError
// (125) with reason and remedy for an unknown event, a rate out of range, an event that this machine cannot
// count, one named twice, and too many events.
std::vector<hpcrun::EventSpec> parse_user_events(const std::vector<std::string>& texts);

// The method by which contention is measured.
enum class ContentionRequest : uint8_t {
  None,
  Sampled,  // "contention": with samples and breakpoints, or the processor's memory samples
  ByPages,  // "contention:pages": by counting what threads write on private pages
};

// Removes "contention" or "contention:pages", either with "@RATE", from the events. Both need samples of
// CPUTIME. If CPUTIME is not among the events, it replaces the removed one, by default at 250 samples a
// second. Throws CommandError (125) if both events have a rate, or both kinds of contention are requested.
ContentionRequest take_contention(std::vector<std::string>& texts);

// True if "contention" is among the events.
bool asks_for_contention(const std::vector<std::string>& texts);

// True if CPUTIME is among the events.
bool names_cpu_time(const std::vector<std::string>& texts);

// Lowers the rate of CPUTIME, and returns its original rate. The original rate applies while contention is
// searched for closely (hpcrun/sample/config.h, PROF_SEARCH_RATE).
uint32_t rest_cpu_time(std::vector<hpcrun::EventSpec>& events);

// Removes "locks" from the events: waiting for locks is traced, not sampled. Returns false if it is not among
// them. Throws CommandError (125) if it has a rate.
bool take_locks(std::vector<std::string>& texts);

// Formats events as the runtime reads them (hpcrun/sample/config.h).
std::string format_events(const std::vector<hpcrun::EventSpec>& events);

struct EventDescription {
  std::string name;
  std::string text;
};

// Returns every event that this machine can sample, prof's clocks first.
std::vector<EventDescription> list_events();

}  // namespace prof
