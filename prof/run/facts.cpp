#include "prof/run/facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdlib>

#include "prof/base/release.h"
#include "prof/base/runtime_library.h"
#include "prof/external_sampler/events.h"
#include "prof/launch/memory_events.h"
#include "prof/ranks/parallel_job.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

RunLibraries find_libraries(const RunRequest& request) {
  RunLibraries libraries;
  libraries.runtime = preloadable(find_runtime_library());
  libraries.memory = preloadable(find_memory_preload());
  libraries.sync = preloadable(find_sync_preload());
  libraries.mpi = preloadable(find_mpi_preload());
  libraries.opencl = preloadable(find_opencl_preload());
  libraries.isolate = preloadable(find_isolate_preload());
  if (request.isolates())
    if (const fs::path allocator = find_isolating_allocator(); !allocator.empty())
      libraries.allocator = preloadable(allocator);
  libraries.outside_exec = find_outside_exec();
  return libraries;
}

// Sampled at the rate of CPUTIME. They raise signals as the best trigger does.
std::string memory_events(const std::vector<hpcrun::EventSpec>& events, hpcrun::Trigger trigger) {
  const auto clock = std::ranges::find(events, hpcrun::EventKind::CpuTime, &hpcrun::EventSpec::kind);
  if (clock == events.end() || trigger != hpcrun::Trigger::Sigtrap) return "";
  return format_memory_events(find_memory_events(clock->rate));
}

// The cost of a sample is measured less exactly if few are taken.
TriggerProbe probe_for(const std::vector<hpcrun::EventSpec>& events) {
  const bool few = std::ranges::all_of(
      events, [](const hpcrun::EventSpec& event) { return event.rate <= hpcrun::kFewSamples; });
  return probe_trigger(few ? 1 : kProbeTurns);
}

std::string kernel_release() {
  utsname names{};
  uname(&names);
  return names.release;
}

}  // namespace

std::optional<RankFacts> rank_facts(const std::optional<RankPart>& rank) {
  if (!rank) return std::nullopt;
  return RankFacts{rank->shares_directory(), rank->watches_debuggers(), rank->file_prefix(),
                   rank->environment(short_version())};
}

RunFacts gather_run_facts(const RunRequest& request, const std::optional<RankFacts>& rank) {
  RunFacts facts;
  facts.rank = rank;
  facts.sampled = sampled_events(request, parse_user_events(request.events));
  facts.users_trigger = users_trigger();
  facts.target = find_target(request.options.command[0]);
  facts.libraries = find_libraries(request);
  facts.given = read_given_repairs(request.repairs);
  if (request.options.devices) facts.devices = device_surroundings();
  facts.is_unnumbered_rank = !rank && is_unnumbered_rank();
  facts.kernel_release = kernel_release();
  facts.mount_namespace = own_mount_namespace();
  if (const char* const preloaded = getenv("LD_PRELOAD")) facts.preloaded = preloaded;
  if (const char* const tunables = getenv(hpcrun::kEnvTunables)) facts.tunables = tunables;
  facts.probe = probe_for(facts.sampled.events);
  if (facts.target.needs_outside()) facts.outside_error = probe_outside_sampling().error;
  if (request.contention == ContentionRequest::Sampled)
    facts.memory_events =
        memory_events(facts.sampled.events, chosen_trigger(facts.users_trigger, facts.probe));
  return facts;
}

}  // namespace prof
