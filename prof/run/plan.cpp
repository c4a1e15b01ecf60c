#include "prof/run/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "prof/base/message.h"
#include "prof/base/runtime_library.h"
#include "prof/run/refusals.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// The order in which the loader resolves symbols: the runtime, its libraries that intercept calls, page
// isolation and its allocator, and finally the user's libraries.
struct Preloads {
  std::vector<fs::path> measuring;
  std::vector<fs::path> isolating;
};

Preloads choose_preloads(const RunRequest& request, const RunFacts& facts, const DevicePlan& devices) {
  const RunLibraries& libraries = facts.libraries;
  Preloads preloads{{libraries.runtime}, {}};
  std::vector<fs::path>& measuring = preloads.measuring;
  measuring.insert(measuring.end(), devices.preload.begin(), devices.preload.end());
  if (request.contention != ContentionRequest::None || request.waste_kinds || request.repairs.layout)
    measuring.push_back(libraries.memory);
  if (request.locks || request.repairs.locks) measuring.push_back(libraries.sync);
  if (facts.is_unnumbered_rank) measuring.push_back(libraries.mpi);
  if (request.isolates()) preloads.isolating = {libraries.isolate};
  // Otherwise the program has its own allocator until a page is isolated.
  if (request.counts_pages() || request.repairs.isolate_always)
    preloads.isolating.push_back(libraries.allocator);
  return preloads;
}

std::string preload_list(std::vector<fs::path> libraries, const std::vector<fs::path>& more,
                         const std::string& users) {
  libraries.insert(libraries.end(), more.begin(), more.end());
  std::string list;
  for (const fs::path& library : libraries) list += (list.empty() ? "" : ":") + library.string();
  return users.empty() ? list : list + ":" + users;
}

void append(Environment& environment, const Environment& more) {
  environment.insert(environment.end(), more.begin(), more.end());
}

void add_contention(const RunRequest& request, const RunFacts& facts, Environment& environment) {
  if (request.counts_pages()) {
    environment.emplace_back(hpcrun::kEnvContention, hpcrun::kContentionByPages);
    environment.emplace_back(hpcrun::kEnvIsolate, "1");
  } else if (request.contention == ContentionRequest::Sampled) {
    environment.emplace_back(hpcrun::kEnvContention, "1");
    environment.emplace_back(hpcrun::kEnvMemoryEvents, facts.memory_events);
    if (const uint32_t rate = facts.sampled.search_rate)
      environment.emplace_back(hpcrun::kEnvSearchRate, fmt::format("{}", rate));
  }
}

Environment choose_environment(const RunRequest& request, const RunFacts& facts, const Preloads& preloads,
                               const DevicePlan& devices, bool has_repair_plan) {
  Environment environment = {
      {hpcrun::kEnvEvents, format_events(facts.sampled.events)},
      {hpcrun::kEnvTrace, request.options.measuring.trace ? "1" : "0"},
      {hpcrun::kEnvTrigger, trigger_name(chosen_trigger(facts.users_trigger, facts.probe))},
      {hpcrun::kEnvOutsideExec, facts.libraries.outside_exec},
      {hpcrun::kEnvMounts, facts.mount_namespace},
  };
  // Children of static and Go programs load the runtime.
  if (!hpcrun::fails_with_runtime(facts.target.kind))
    environment.emplace_back("LD_PRELOAD",
                             preload_list(preloads.measuring, preloads.isolating, facts.preloaded));
  add_contention(request, facts, environment);
  if (request.locks) environment.emplace_back(hpcrun::kEnvLocks, "1");
  if (request.waste_kinds)
    environment.emplace_back(hpcrun::kEnvWaste, fmt::format("{}", request.waste_kinds));
  add_repair_environment(request.repairs, has_repair_plan, environment);
  if (request.repairs.isolate) add_isolating_allocator(facts.libraries.allocator, facts.tunables, environment);
  if (request.options.device_trace == DeviceTrace::Sampled)
    environment.emplace_back(hpcrun::kEnvDeviceTrace, hpcrun::kSampledDeviceTrace);
  append(environment, devices.environment);
  if (facts.rank) append(environment, facts.rank->environment);
  return environment;
}

// Returns why child processes of the program are not sampled from outside; empty if they are.
std::string outside_refusal(const std::vector<hpcrun::EventSpec>& events) {
  return only_real_time(events) ? "REALTIME is not available there" : "";
}

OutsidePlan plan_outside(const RunRequest& request, const RunFacts& facts) {
  OutsidePlan outside;
  outside.events = facts.sampled.events;
  outside.trace = request.options.measuring.trace;
  outside.command = fmt::format("{}", fmt::join(request.options.command, " "));
  outside.refusal = outside_refusal(facts.sampled.events);
  if (facts.rank) outside.launch_variables = facts.rank->environment;
  outside.waste = request.waste_kinds != 0;
  outside.contention = request.contention == ContentionRequest::Sampled && !request.is_for_repairs;
  return outside;
}

DirectoryRequest plan_directory(const RunRequest& request, const GivenRepairs& given) {
  const MeasuringOptions& options = request.options.measuring;
  DirectoryRequest directory;
  directory.asked = options.output;
  directory.program = request.options.command[0];
  directory.force = options.force;
  directory.aggregates = request.options.aggregate == Aggregate::Node;
  directory.is_paused = options.window.starts_paused();
  directory.repair_plan = repair_plan(given.repairs);
  directory.given = given.repairs;
  return directory;
}

Launch plan_launch(const RunRequest& request, const RunFacts& facts, Environment environment) {
  Launch launch;
  launch.program = facts.target.path;
  launch.arguments = request.options.command;
  launch.environment = std::move(environment);
  launch.window = request.options.measuring.window;
  if (facts.rank) {
    // If ranks aggregate, the measurement files are in a directory of the node.
    launch.watches_debuggers = request.options.aggregate == Aggregate::Node || facts.rank->watches_debuggers;
    if (facts.rank->shares_directory) launch.file_prefix = facts.rank->file_prefix;
  }
  return launch;
}

void note_given_repairs(const RunRequest& request, const GivenRepairs& given, Notes& notes) {
  for (const std::string& line : given.left_out) notes.remark("{}", line);
  if (!request.repairs.file.empty() && given.repairs.is_empty())
    notes.remark("{}: none of its repairs applies to this program; the run starts without repairs",
                 request.repairs.file.string());
}

}  // namespace

RunPlan plan_run(const RunRequest& request, const RunFacts& facts) {
  refuse_what_only_the_runtime_does(request, facts.target);
  if (!facts.given.problem.empty()) throw CommandError(kOwnFailure, facts.given.problem);
  RunPlan plan;
  note_given_repairs(request, facts.given, plan.notes);
  DevicePlan devices;
  if (facts.devices)
    devices = plan_devices(*facts.devices, facts.libraries.runtime, facts.libraries.opencl, plan.notes);
  refuse_isolation_without_means(request, facts);
  refuse_events_without_source(facts);

  const Preloads preloads = choose_preloads(request, facts, devices);
  plan.directory = plan_directory(request, facts.given);
  plan.launch =
      plan_launch(request, facts,
                  choose_environment(request, facts, preloads, devices, !plan.directory.repair_plan.empty()));
  plan.outside = plan_outside(request, facts);
  if (facts.target.needs_outside()) plan.outside_image = facts.target.image;
  plan.trigger_cost_s = facts.probe.cost_s;
  plan.repairs = request.repairs;
  plan.verify = request.options.verify;
  plan.trial_preload = preload_list(preloads.measuring, {}, facts.preloaded);
  plan.analyzes = request.options.measuring.analyze;
  return plan;
}

}  // namespace prof
