#include "prof/run/execute.h"

#include <fmt/format.h>
#include <unistd.h>

#include "prof/external_sampler/sampler.h"
#include "prof/launch/perf_maps.h"
#include "prof/launch/target.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/ranks/node_directory.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

void open_node_directory(const RunPlan& plan, const std::optional<RankPart>& rank,
                         const RunDirectory& directory, std::optional<NodeDirectory>& node) {
  if (!plan.directory.aggregates) return;
  node.emplace(directory.path, rank ? rank->job().launch : fmt::format("{}", getpid()), directory.token,
               [&](const fs::path& local) { prepare_for_processes(plan.directory, local); });
}

OutsidePlan in_place(OutsidePlan outside, const fs::path& place) {
  outside.directory = place;
  return outside;
}

Launch in_place(Launch launch, const fs::path& place, const std::string& socket) {
  launch.measurement_directory = place;
  launch.environment.emplace_back(hpcrun::kEnvDirectory, place.string());
  launch.environment.emplace_back(hpcrun::kEnvOutside, socket);
  return launch;
}

// Runs the program, and samples from outside where the runtime cannot run.
void run_measured(const RunPlan& plan, MeasuredRun& run) {
  OutsideSampler outside(in_place(plan.outside, run.place));
  Launch complete = in_place(plan.launch, run.place, outside.socket_name());
  if (!plan.outside_image.empty())
    complete.before_exec = [&](pid_t child) { outside.attach(child, plan.outside_image); };
  run.outcome = launch(complete);
}

}  // namespace

void run_bare(const std::vector<std::string>& command) {
  Launch bare;
  bare.program = find_target(command[0]).path;
  bare.arguments = command;
  become(bare);
}

MeasuredRun execute(const RunPlan& plan, const std::optional<RankPart>& rank) {
  MeasuredRun run;
  run.directory = open_directory(plan.directory, rank);
  if (rank && !rank->is_measured()) run_bare(plan.launch.arguments);
  std::optional<NodeDirectory> node;
  open_node_directory(plan, rank, run.directory, node);
  run.place = node ? node->path() : run.directory.path;
  run.start = present_time();
  std::optional<NodeClock> clock;
  if (rank && rank->shares_with_all() && !run.directory.clock)
    clock.emplace(run.place, rank->first_clock(run.directory.path));
  run_measured(plan, run);
  const std::string& prefix = plan.launch.file_prefix;
  keep_perf_maps(run.place, prefix);
  if (clock) clock->compare_again();
  if (rank && rank->shares_directory())
    write_run_record(run.place, plan.launch.arguments, run.start, run.outcome, plan.trigger_cost_s,
                     rank->record_name());
  run.is_collected = !node || node->collect(prefix, records_of_rank(run.place, rank, clock));
  return run;
}

}  // namespace prof
