#include "prof/run/request.h"

#include "prof/base/message.h"
#include "prof/launch/waste_events.h"
#include "prof/run/facts.h"

namespace prof {

namespace {

void require_what_ranks_can_do(const RunOptions& options, const RankFacts* rank) {
  if (!rank) return;
  if (options.verify > 0)
    fail(kOwnFailure,
         "--verify runs the program again, which a single MPI rank cannot do; leave --verify out");
  if (!rank->shares_directory && options.aggregate == Aggregate::Node)
    fail(kOwnFailure, "--aggregate=node needs one directory for all ranks; leave %r and %p out of -o {}",
         options.measuring.output);
}

void require_something_to_verify(const RunOptions& options, const RepairRequest& repairs) {
  if (options.verify == 0) return;
  if (!repairs.is_for_anything())
    fail(kOwnFailure, "--verify times the repairs of --repair; add --repair, or leave --verify out");
  if (!repairs.layout && !repairs.locks)
    fail(kOwnFailure,
         "--verify times repairs of heap layout and locks, not isolated pages; use --repair=isolate, or "
         "leave --verify out");
  if (!options.measuring.analyze)
    fail(kOwnFailure, "--verify needs the analysis that finds repairs; leave --no-analyze out");
}

// Contention and memory waste both need all of the processor's breakpoints, and converted threads have none.
void require_free_breakpoints(const RunRequest& request) {
  if (!request.waste_kinds) return;
  if (request.isolates() || request.searches)
    fail(kOwnFailure,
         "memory waste cannot be measured together with {}, which needs the same breakpoints; run prof twice",
         request.counts_pages() ? "-e contention:pages" : "--repair");
  if (request.contention != ContentionRequest::None)
    fail(kOwnFailure,
         "memory waste cannot be measured together with -e contention, which needs the same breakpoints; run "
         "prof twice");
}

// Takes events that are traced instead of sampled out of the list, and decides the sampling rate of a run
// with repairs. It is low, because that run should be fast, unless the user requests a higher one.
void read_events(RunRequest& request) {
  std::vector<std::string>& names = request.events = request.options.measuring.events;
  const RepairRequest& repairs = request.repairs;
  request.is_for_repairs = repairs.is_for_anything() && !asks_for_contention(names);
  request.rests = request.is_for_repairs && !names_cpu_time(names) && !request.options.measuring.trace;
  // The findings of an earlier run are known: only pages to isolate are searched for in addition.
  request.searches = request.is_for_repairs && (repairs.file.empty() || repairs.isolate);
  if (request.searches) names.emplace_back("contention");
  request.locks = take_locks(names);
  request.waste_kinds = take_memory_waste(names);
  request.contention = take_contention(names);
}

}  // namespace

RunRequest read_run_request(const RunOptions& options, const RankFacts* rank) {
  require_what_ranks_can_do(options, rank);
  RunRequest request;
  request.options = options;
  if (options.device_trace == DeviceTrace::Sampled && !options.measuring.trace)
    request.notes.say("--device-trace=sampled has no effect without --trace");
  if (!options.repair.empty()) request.repairs = parse_repair_request(options.repair);
  require_something_to_verify(options, request.repairs);
  read_events(request);
  require_free_breakpoints(request);
  if (request.counts_pages() && request.repairs.is_for_anything())
    fail(kOwnFailure,
         "-e contention:pages cannot be combined with --repair; leave one of them out, or use -e contention");
  return request;
}

SampledEvents sampled_events(const RunRequest& request, std::vector<hpcrun::EventSpec> events) {
  const uint32_t whole_rate = request.rests ? rest_cpu_time(events) : 0;
  return {std::move(events), request.searches ? whole_rate : 0};
}

}  // namespace prof
