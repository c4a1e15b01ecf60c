#pragma once
// Events as users name them.

#include <cstdint>
#include <string>
#include <vector>

#include "hpcrun/sample/config.h"

namespace prof {

// Reads the events of a run, each `NAME` or `NAME@RATE`; CPUTIME when there are none. Throws CommandError
// (125) that names what is wrong and the remedy: unknown event, rate out of range, an event that this machine
// cannot count, one named twice, too many.
std::vector<hpcrun::EventSpec> parse_user_events(const std::vector<std::string>& texts);

// How contention is looked for.
enum class ContentionRequest : uint8_t {
  None,
  Sampled,  // "contention": by samples and breakpoints, or the processor's memory samples
  ByPages,  // "contention:pages": by counting what threads write on pages that each has for itself
};

// Takes "contention" or "contention:pages", either with "@RATE", out of the events. The first goes by the
// samples of CPUTIME: where these are not named, they are put in its place, 250 a second unless told; beside
// the second as well. Throws CommandError (125) where both have a rate, or both ways are asked for.
ContentionRequest take_contention(std::vector<std::string>& texts);

// Whether "contention" is among the events.
bool asks_for_contention(const std::vector<std::string>& texts);

// Whether CPUTIME is among the events.
bool names_cpu_time(const std::vector<std::string>& texts);

// Has CPUTIME sampled seldom, and returns how often it was to be: the rate while contention is looked for
// closely (hpcrun/sample/config.h, PROF_SEARCH_RATE).
uint32_t rest_cpu_time(std::vector<hpcrun::EventSpec>& events);

// Takes "locks" out of the events: waiting for locks is followed, not sampled. False when it is not among
// them. Throws CommandError (125) where it has a rate.
bool take_locks(std::vector<std::string>& texts);

// As the runtime reads them (hpcrun/sample/config.h).
std::string format_events(const std::vector<hpcrun::EventSpec>& events);

struct EventDescription {
  std::string name;
  std::string text;
};

// Every event that this machine can sample, our clocks first.
std::vector<EventDescription> list_events();

}  // namespace prof
