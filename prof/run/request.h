#pragma once
// The options of `prof run`, parsed and checked for consistency, before anything about the machine or the
// program is known.

#include <cstdint>
#include <string>
#include <vector>

#include "hpcrun/sample/config.h"
#include "prof/base/notes.h"
#include "prof/launch/events.h"
#include "prof/repair/repair_request.h"
#include "prof/run/options.h"

namespace prof {

struct RankFacts;

struct RunRequest {
  RunOptions options;
  RepairRequest repairs;
  std::vector<std::string> events;  // sampled events, NAME or NAME@RATE; empty: the default
  bool locks = false;               // -e locks
  ContentionRequest contention = ContentionRequest::None;
  uint64_t waste_kinds = 0;     // -e dead-stores and similar (prof/launch/waste_events.h)
  bool is_for_repairs = false;  // the run searches for contention to repair it, not to report it
  bool rests = false;           // CPUTIME is sampled at a low rate while threads do not contend
  bool searches = false;        // for repairs that no earlier run found
  Notes notes;

  bool counts_pages() const { return contention == ContentionRequest::ByPages; }
  // True if threads may become processes with common memory.
  bool isolates() const { return repairs.isolate || counts_pages(); }
  // Returns the option that turns threads into processes, for messages. Only if isolates().
  const char* isolating_option() const { return counts_pages() ? "-e contention:pages" : "--repair=isolate"; }
};

// Parses the options. `rank`: nullptr outside a parallel job. Throws CommandError (125) if they are
// inconsistent. Prints nothing, and reads no file except the one that --repair names.
RunRequest read_run_request(const RunOptions& options, const RankFacts* rank);

struct SampledEvents {
  std::vector<hpcrun::EventSpec> events;
  uint32_t search_rate = 0;  // of CPUTIME while contention is searched for closely; 0: unchanged
};

// Lowers the rate of CPUTIME in the events of a run that rests.
SampledEvents sampled_events(const RunRequest& request, std::vector<hpcrun::EventSpec> events);

}  // namespace prof
