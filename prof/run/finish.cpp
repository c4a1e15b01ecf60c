#include "prof/run/finish.h"

#include "prof/base/message.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/repair/repair_trial.h"
#include "prof/results/databases.h"
#include "prof/results/share.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Runs the program again, alternately with and without the repairs in repair.json. A failure is one line, and
// the measured run is kept.
void verify_repairs(const RunPlan& plan, const MeasuredRun& run) {
  const fs::path& directory = run.directory.path;
  const fs::path path = directory / kRepairFile;
  try {
    std::error_code missing;
    RepairFile file = fs::exists(path, missing) ? read_repair_file(path) : RepairFile{};
    TrialSetting setting{plan.launch, directory, plan.repairs, run.outcome.exit_status, plan.verify};
    setting.request.isolate = setting.request.isolate_always = false;
    // Measures as little as the runtime can.
    setting.launch.window = {};
    std::erase_if(setting.launch.environment,
                  [](const auto& variable) { return variable.first != hpcrun::kEnvTrigger; });
    setting.launch.environment.emplace_back("LD_PRELOAD", plan.trial_preload);
    setting.launch.environment.emplace_back(hpcrun::kEnvEvents, "CPUTIME@1");
    try_repairs(setting, file);
    if (!file.is_empty()) write_repair_file(file, path);
  } catch (const std::exception& error) {
    say("verify: {}", error.what());
  }
}

void say_nothing_was_measured(const MeasuredRun& run) {
  if (!run.is_collected) return;  // the reason is printed already
  const fs::path& directory = run.directory.path;
  if (has_measurement_names(directory))
    say("nothing was measured: the files that processes wrote to {} were truncated", directory.string());
  else
    say("nothing was measured: the program did not load the runtime or could not write to {}",
        run.place.string());
}

void analyze_or_say_where(const RunPlan& plan, const std::optional<RankPart>& rank, const MeasuredRun& run) {
  const fs::path& directory = run.directory.path;
  if (!plan.analyzes)
    remark("measurements are in {}", directory.string());
  else if (rank && !rank->analyzes())
    rank->say_how_to_analyze(directory);
  else
    analyze_and_summarize(directory, [&] {
      if (plan.verify > 0) verify_repairs(plan, run);
    });
}

}  // namespace

int finish(const RunPlan& plan, const std::optional<RankPart>& rank, const MeasuredRun& run) {
  const fs::path& directory = run.directory.path;
  const Outcome& outcome = run.outcome;
  if (rank && rank->shares_directory()) {
    if (!rank->makes_directory()) return outcome.exit_status;
    rank->await_others(directory);
  }
  remove_shared_tables(directory);
  write_run_record(directory, plan.launch.arguments, run.start, outcome, plan.trigger_cost_s);
  const std::optional<double>& delay_s = plan.launch.window.delay_s;
  if (delay_s && outcome.wall_s < *delay_s)
    say("the program ended after {:.2g} s, before measuring began (--delay)", outcome.wall_s);
  if (!has_measurements(directory)) {
    say_nothing_was_measured(run);
    return outcome.exit_status;
  }
  share_measurements(directory);
  say_who_may_read(directory);
  analyze_or_say_where(plan, rank, run);
  return outcome.exit_status;
}

}  // namespace prof
