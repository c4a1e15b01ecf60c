#include "prof/commands/run.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/command_line/optional_values.h"
#include "prof/commands/attach.h"
#include "prof/ranks/rank_part.h"
#include "prof/run/execute.h"
#include "prof/run/facts.h"
#include "prof/run/finish.h"
#include "prof/run/options.h"
#include "prof/run/plan.h"
#include "prof/run/request.h"

namespace prof {

namespace {

const std::map<std::string, DeviceTrace> kDeviceTraces = {{"exact", DeviceTrace::Exact},
                                                          {"sampled", DeviceTrace::Sampled}};

const std::map<std::string, Aggregate> kAggregates = {{"none", Aggregate::None}, {"node", Aggregate::Node}};

int run_program(const RunOptions& options) {
  const std::optional<RankPart> rank = RankPart::take(options.ranks, options.measuring.output);
  if (rank && !rank->is_measured() && !rank->makes_directory()) run_bare(options.command);
  const std::optional<RankFacts> facts_of_rank = rank_facts(rank);
  const RunRequest request = read_run_request(options, facts_of_rank ? &*facts_of_rank : nullptr);
  request.notes.print();
  const RunPlan plan = plan_run(request, gather_run_facts(request, facts_of_rank));
  plan.notes.print();
  const MeasuredRun run = execute(plan, rank);
  return finish(plan, rank, run);
}

int run(const RunOptions& options) {
  if (options.pid) {
    if (!options.repair.empty() && parse_repair_request(options.repair).is_for_anything())
      fail(kOwnFailure,
           "--repair cannot change a running process; leave it out, or start the program with `prof run`");
    if (options.aggregate == Aggregate::Node)
      fail(kOwnFailure,
           "--aggregate does not work with a running process; leave it out, or start the program with `prof "
           "run`");
    if (!options.command.empty())
      fail(kOwnFailure, "-p measures a running process, but a program is named too; leave out '{}' or -p",
           options.command[0]);
    return attach(*options.pid, options.measuring);
  }
  if (options.command.empty())
    fail(kOwnFailure,
         "the program to run is missing; name it, or a running process with -p; see prof run --help");
  return run_program(options);
}

}  // namespace

void add_run_command(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run and measure a program, then print a summary");
  add_measuring_options(*command, options->measuring);
  command->add_option("-p,--pid", options->pid, "Attach to a running process instead of starting a program")
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  command
      ->add_flag("--paused", options->measuring.window.paused,
                 "Start paused, until prof_start() or `prof resume`")
      ->excludes("--delay");
  command->add_flag_callback(
      "--no-devices", [options] { options->devices = false; }, "Do not trace accelerators (OpenCL, CUDA)");
  command
      ->add_option("--device-trace", options->device_trace,
                   "Device tasks in traces: exact (all) or sampled [exact]")
      ->transform(choice(kDeviceTraces))
      ->type_name("HOW");
  CLI::Option* const repair =
      command
          ->add_option("--repair", options->repair,
                       "Repair false sharing while the program runs: layout, layout:FILE, locks, isolate or "
                       "none; without KIND: layout,locks")
          // The values that shells offer. parse_repair_request() checks the whole value.
          ->check(CLI::Validator([](std::string&) { return std::string(); },
                                 "layout|locks|layout,locks|isolate|isolate:always|none"))
          ->type_name("KIND[,KIND]");
  make_value_optional(*repair, kDefaultRepairs);
  CLI::Option* const verify = command
                                  ->add_option("--verify", options->verify,
                                               "After the run, time N pairs of runs, without and with the "
                                               "repairs; keep what helps; without N: 3")
                                  ->check(within(1, 100))
                                  ->type_name("N");
  make_value_optional(*verify, "3");
  command
      ->add_option("--ranks", options->ranks,
                   "Ranks to measure: a list (0-15,1024) or a percentage (10%) [all]")
      ->type_name("LIST|PCT%");
  command
      ->add_option("--aggregate", options->aggregate,
                   "Where ranks write: none (the measurement directory), or node (each node's local disk, "
                   "then one file "
                   "per node) [none]")
      ->transform(choice(kAggregates))
      ->type_name("HOW");
  command->add_option("command", options->command, "Program to measure, and its arguments")
      ->type_name("PROGRAM [ARGUMENT]...");
  command->prefix_command(false);
  command->positionals_at_end(true);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace prof
