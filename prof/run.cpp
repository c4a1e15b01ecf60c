#include "prof/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "prof/analyze.h"
#include "prof/attach.h"
#include "prof/command_line/optional_values.h"
#include "prof/devices.h"
#include "prof/events.h"
#include "prof/launch.h"
#include "prof/measured_process.h"
#include "prof/measurement_directory.h"
#include "prof/measuring_options.h"
#include "prof/memory_events.h"
#include "prof/message.h"
#include "prof/node_directory.h"
#include "prof/outside/sampler.h"
#include "prof/parallel_job.h"
#include "prof/perf_maps.h"
#include "prof/rank_part.h"
#include "prof/repair_request.h"
#include "prof/repair_trial.h"
#include "prof/report/choice.h"
#include "prof/run_directory.h"
#include "prof/runtime_library.h"
#include "prof/share.h"
#include "prof/target.h"
#include "prof/trigger.h"
#include "prof/version.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

enum class DeviceTrace : uint8_t { Exact, Sampled };
const std::map<std::string, DeviceTrace> kDeviceTraces = {{"exact", DeviceTrace::Exact},
                                                          {"sampled", DeviceTrace::Sampled}};

enum class Aggregate : uint8_t { None, Node };
const std::map<std::string, Aggregate> kAggregates = {{"none", Aggregate::None}, {"node", Aggregate::Node}};

struct RunOptions {
  std::optional<int> pid;
  MeasuringOptions measuring;
  bool devices = true;
  DeviceTrace device_trace = DeviceTrace::Exact;
  std::string repair;   // as the user wrote it; empty: nothing is to be changed
  uint32_t verify = 0;  // pairs of runs; 0: none
  Aggregate aggregate = Aggregate::None;
  std::string ranks;  // of a parallel program that are measured, as the user wrote it; empty: all
  std::vector<std::string> command;
};

std::string preload_list(const fs::path& runtime, const std::vector<fs::path>& others) {
  std::string list = runtime.string();
  for (const fs::path& other : others) list += ":" + other.string();
  const char* present = getenv("LD_PRELOAD");
  return present && *present ? list + ":" + present : list;
}

// A program that can be sampled from outside only is refused where that cannot be done.
void require_outside_sampling(const Target& target, const std::vector<hpcrun::EventSpec>& events) {
  const char* what = reason_outside(target.kind);
  const bool only_real_time = std::ranges::all_of(
      events, [](const hpcrun::EventSpec& event) { return event.kind == hpcrun::EventKind::RealTime; });
  if (only_real_time)
    fail(kOwnFailure, "{}: {}; it is sampled from outside, where REALTIME cannot be had; use -e CPUTIME",
         target.image.string(), what);
  const OutsideProbe probe = probe_outside_sampling();
  if (probe.error)
    fail(kOwnFailure,
         "{}: {}; it could be sampled from outside by perf events, but these are refused here ({}); allow "
         "them (`sysctl kernel.perf_event_paranoid=2`, in containers a seccomp profile that lets "
         "perf_event_open pass)",
         target.image.string(), what, std::strerror(probe.error));
}

// Where the kernel refuses whatever an event could be sampled by, the program would run for nothing.
void require_sources(const TriggerProbe& probe, const std::vector<hpcrun::EventSpec>& events) {
  const auto asks_for = [&](hpcrun::EventKind kind) {
    return std::ranges::any_of(events, [=](const hpcrun::EventSpec& event) { return event.kind == kind; });
  };
  const char* lacking = nullptr;
  if (asks_for(hpcrun::EventKind::CpuTime) && !probe.has_clock)
    lacking = "CPUTIME: perf events and timers are";
  if (asks_for(hpcrun::EventKind::RealTime) && !probe.has_timers) lacking = "REALTIME: timers are";
  if (lacking)
    fail(kOwnFailure,
         "nothing here can sample {} refused; allow one (a seccomp profile that lets perf_event_open or "
         "timer_create pass, a limit of pending signals above 0, `ulimit -i`)",
         lacking);
}

// Why programs below the one that is run are not sampled from outside; empty where they are.
std::string outside_refusal(const std::vector<hpcrun::EventSpec>& events) {
  if (std::ranges::all_of(
          events, [](const hpcrun::EventSpec& event) { return event.kind == hpcrun::EventKind::RealTime; }))
    return "REALTIME cannot be had there";
  return {};
}

// At the rate of CPUTIME. They raise signals as the best trigger does.
std::string memory_events(const std::vector<hpcrun::EventSpec>& events, hpcrun::Trigger trigger) {
  const auto clock = std::ranges::find(events, hpcrun::EventKind::CpuTime, &hpcrun::EventSpec::kind);
  if (clock == events.end() || trigger != hpcrun::Trigger::Sigtrap) return "";
  return format_memory_events(find_memory_events(clock->rate));
}

// The repairs of an earlier run that fit the program as it is now.
RepairFile given_repairs(const RepairRequest& request) {
  if (request.file.empty()) return {};
  RepairFile file;
  try {
    file = read_repair_file(request.file);
  } catch (const RepairFileError& error) {
    fail(kOwnFailure, "{}", error.what());
  }
  std::vector<std::string> left_out;
  RepairFile given = applicable_repairs(file, request, left_out);
  for (const std::string& line : left_out) remark_line(line);
  if (given.is_empty())
    remark("{}: nothing in it can be done for this program; the run changes nothing from the start",
           request.file.string());
  for (SiteRepair& repair : given.sites) repair.terms.is_given = true;
  for (LockRepair& repair : given.locks) repair.terms.is_given = true;
  return given;
}

// Runs the program again, with and without what repair.json has now. What fails here is said; the run that
// was measured stands. `preload`: without what isolates pages, which brings an allocator along: a trial would
// compare allocators.
void verify_repairs(const RunOptions& options, const RepairRequest& request, const Launch& measured,
                    const std::string& preload, int exit_status) {
  const fs::path path = measured.measurement_directory / kRepairFile;
  try {
    std::error_code missing;
    RepairFile file = fs::exists(path, missing) ? read_repair_file(path) : RepairFile{};
    TrialSetting setting{measured, measured.measurement_directory, request, exit_status, options.verify};
    setting.request.isolate = setting.request.isolate_always = false;
    // As little as the runtime can measure.
    setting.launch.window = {};
    setting.launch.before_exec = {};
    std::erase_if(setting.launch.environment,
                  [](const auto& variable) { return variable.first != hpcrun::kEnvTrigger; });
    setting.launch.environment.emplace_back("LD_PRELOAD", preload);
    setting.launch.environment.emplace_back(hpcrun::kEnvEvents, "CPUTIME@1");
    try_repairs(setting, file);
    if (!file.is_empty()) write_repair_file(file, path);
  } catch (const std::exception& error) {
    say("verify: {}", error.what());
  }
}

// What a rank that is not measured does instead: it runs as without `prof`.
[[noreturn]] void run_bare(const std::vector<std::string>& command) {
  Launch bare;
  bare.program = find_target(command[0]).path;
  bare.arguments = command;
  become(bare);
}

int run_program(const RunOptions& whole) {
  const std::optional<RankPart> rank = RankPart::take(whole.ranks, whole.measuring.output);
  const bool measures = !rank || rank->is_measured();
  if (!measures && !rank->makes_directory()) run_bare(whole.command);
  const bool shares_directory = rank && rank->shares_directory();
  if (rank && whole.verify > 0)
    fail(kOwnFailure, "--verify runs the program again, which one rank of many cannot; leave it out");
  if (rank && !shares_directory && whole.aggregate == Aggregate::Node)
    fail(kOwnFailure, "--aggregate=node is for ranks that share a directory; leave %r and %p out of -o {}",
         whole.measuring.output);
  const std::vector<std::string>& command = whole.command;
  const MeasuringOptions& options = whole.measuring;
  if (whole.device_trace == DeviceTrace::Sampled && !options.trace)
    say("--device-trace=sampled changes nothing without --trace");
  // Everything that can be refused is, before anything is created.
  std::vector<std::string> names = options.events;
  const RepairRequest repairs = whole.repair.empty() ? RepairRequest{} : parse_repair_request(whole.repair);
  if (whole.verify > 0 && !repairs.is_for_anything())
    fail(kOwnFailure, "--verify tries what --repair finds; add --repair, or leave --verify out");
  if (whole.verify > 0 && !repairs.layout && !repairs.locks)
    fail(kOwnFailure,
         "--verify tries allocations and locks that are laid out anew, not pages that are isolated as the "
         "program runs; use --repair=isolate, or leave --verify out");
  if (whole.verify > 0 && !options.analyze)
    fail(kOwnFailure, "--verify needs the analysis that finds repairs; leave --no-analyze out");
  // A run that is to be faster is sampled seldom, but where somebody asks for more.
  const bool is_for_repairs = repairs.is_for_anything() && !asks_for_contention(names);
  const bool rests = is_for_repairs && !names_cpu_time(names) && !options.trace;
  // What an earlier run found is known: nothing needs to be looked for again.
  const bool looks_by_itself = is_for_repairs && (repairs.file.empty() || repairs.isolate);
  if (looks_by_itself) names.emplace_back("contention");
  const bool locks = take_locks(names);
  const ContentionRequest contention = take_contention(names);
  const bool by_pages = contention == ContentionRequest::ByPages;
  if (by_pages && repairs.is_for_anything())
    fail(
        kOwnFailure,
        "-e contention:pages counts what --repair would change; leave one of them out, or use -e contention");
  std::vector<hpcrun::EventSpec> events = parse_user_events(names);
  const uint32_t whole_rate = rests ? rest_cpu_time(events) : 0;
  const uint32_t search_rate = looks_by_itself ? whole_rate : 0;
  const std::optional<hpcrun::Trigger> users = users_trigger();
  const Target target = find_target(command[0]);
  const fs::path runtime = preloadable(find_runtime_library());
  if (locks && target.needs_outside())
    fail(kOwnFailure, "{}: locks are followed from inside, where the runtime cannot be; leave -e locks out",
         target.image.string());
  if (repairs.is_for_anything() && target.needs_outside())
    fail(kOwnFailure, "{}: repairs are made from inside, where the runtime cannot be; leave --repair out",
         target.image.string());
  if (by_pages && target.needs_outside())
    fail(kOwnFailure, "{}: pages are looked at from inside, where the runtime cannot be; leave -e {} out",
         target.image.string(), "contention:pages");
  const RepairFile given = given_repairs(repairs);
  const std::string repair_plan = prof::repair_plan(given);
  const DevicePlan devices = whole.devices ? plan_devices(runtime) : DevicePlan{};
  std::vector<fs::path> others = devices.preload;
  if (contention != ContentionRequest::None || repairs.layout)
    others.push_back(preloadable(find_memory_preload()));
  if (locks || repairs.locks) others.push_back(preloadable(find_sync_preload()));
  if (!rank && is_untold_rank()) others.push_back(preloadable(find_mpi_preload()));
  const std::string trial_preload = preload_list(runtime, others);
  if (repairs.isolate || by_pages) {
    const char* const asked = by_pages ? "-e contention:pages" : "--repair=isolate";
    require_kernel_for_isolation(asked, by_pages ? "-e contention" : "--repair");
    others.push_back(preloadable(find_isolate_preload()));
    const fs::path allocator = preloadable(find_isolating_allocator(asked));
    if (by_pages || repairs.isolate_always) others.push_back(allocator);  // else it is loaded when needed
  }
  const bool few = std::ranges::all_of(
      events, [](const hpcrun::EventSpec& event) { return event.rate <= hpcrun::kFewSamples; });
  const TriggerProbe probe = probe_trigger(few ? 1 : kProbeTurns);
  if (target.needs_outside())
    require_outside_sampling(target, events);
  else
    require_sources(probe, events);
  const bool aggregates = whole.aggregate == Aggregate::Node;
  const DirectoryRequest request{
      options.output, command[0], options.force, aggregates, options.window.starts_paused(),
      repair_plan,    &given};
  RunDirectory opened;
  open_directory(request, rank, opened);
  const fs::path& directory = opened.path;
  if (!measures) run_bare(command);
  std::optional<NodeDirectory> node;
  if (aggregates)
    node.emplace(directory, rank ? rank->job().launch : fmt::format("{}", getpid()), opened.token,
                 [&](const fs::path& local) { prepare_for_processes(request, local); });
  // Where processes measure.
  const fs::path place = node ? node->path() : directory;
  // In order of preference: nothing better than this machine allows.
  const hpcrun::Trigger trigger = users ? std::max(*users, probe.trigger) : probe.trigger;

  Launch plan;
  plan.program = target.path;
  plan.arguments = command;
  plan.measurement_directory = place;
  plan.window = options.window;
  const auto told =
      rank ? rank->environment(short_version()) : std::vector<std::pair<std::string, std::string>>();
  std::optional<OutsideSampler> outside(
      std::in_place, OutsidePlan{place, events, options.trace, true,
                                 fmt::format("{}", fmt::join(command, " ")), outside_refusal(events), told,
                                 contention == ContentionRequest::Sampled && !is_for_repairs});
  if (target.needs_outside()) plan.before_exec = [&](pid_t child) { outside->attach(child, target.image); };
  plan.environment = {
      {hpcrun::kEnvDirectory, place.string()},        {hpcrun::kEnvEvents, format_events(events)},
      {hpcrun::kEnvTrace, options.trace ? "1" : "0"}, {hpcrun::kEnvTrigger, trigger_name(trigger)},
      {hpcrun::kEnvOutside, outside->socket_name()},  {hpcrun::kEnvOutsideExec, find_outside_exec()},
      {hpcrun::kEnvMounts, own_mount_namespace()},
  };
  // Children of static and of Go programs load it.
  if (!hpcrun::fails_with_runtime(target.kind))
    plan.environment.push_back({"LD_PRELOAD", preload_list(runtime, others)});
  if (contention == ContentionRequest::Sampled) {
    plan.environment.push_back({hpcrun::kEnvContention, "1"});
    plan.environment.push_back({hpcrun::kEnvMemoryEvents, memory_events(events, trigger)});
    if (search_rate) plan.environment.push_back({hpcrun::kEnvSearchRate, fmt::format("{}", search_rate)});
  } else if (by_pages) {
    plan.environment.push_back({hpcrun::kEnvContention, hpcrun::kContentionByPages});
    plan.environment.push_back({hpcrun::kEnvIsolate, "1"});
  }
  if (locks) plan.environment.push_back({hpcrun::kEnvLocks, "1"});
  add_repair_environment(repairs, !repair_plan.empty(), plan.environment);
  if (whole.device_trace == DeviceTrace::Sampled)
    plan.environment.push_back({hpcrun::kEnvDeviceTrace, hpcrun::kSampledDeviceTrace});
  plan.environment.insert(plan.environment.end(), devices.environment.begin(), devices.environment.end());
  if (rank) {
    plan.environment.insert(plan.environment.end(), told.begin(), told.end());
    plan.watches_debuggers = node || rank->watches_debuggers();
    if (shares_directory) plan.file_prefix = rank->file_prefix();
  }
  const std::string start = present_time();
  std::optional<NodeClock> of_node;
  if (rank && rank->shares_with_all() && !opened.clock) of_node.emplace(place, rank->first_clock(directory));
  const Outcome outcome = launch(plan);
  plan.measurement_directory = directory;
  outside.reset();
  keep_perf_maps(place, plan.file_prefix);
  if (of_node) of_node->compare_again();
  if (shares_directory) write_run_record(place, command, start, outcome, probe.cost_s, rank->record_name());
  const bool is_collected = !node || node->collect(plan.file_prefix, records_of_rank(place, rank, of_node));
  node.reset();
  if (shares_directory) {
    if (!rank->makes_directory()) return outcome.exit_status;
    rank->await_others(directory);
  }
  remove_shared_tables(directory);
  write_run_record(directory, command, start, outcome, probe.cost_s);
  if (options.window.delay_s && outcome.wall_s < *options.window.delay_s)
    say("the program ended after {:.2g} s, before measuring began (--delay)", outcome.wall_s);
  if (!has_measurements(directory)) {
    if (is_collected && has_measurement_names(directory))
      say("nothing was measured: the files that processes wrote to {} were truncated", directory.string());
    else if (is_collected)
      say("nothing was measured: the program did not load the runtime or could not write to {}",
          place.string());
    return outcome.exit_status;
  }
  share_measurements(directory);
  say_who_may_read(directory);
  if (rank && options.analyze && !rank->analyzes()) {
    rank->say_how_to_analyze(directory);
  } else if (options.analyze)
    analyze_and_summarize(directory, [&] {
      if (whole.verify > 0) verify_repairs(whole, repairs, plan, trial_preload, outcome.exit_status);
    });
  else
    remark("measurements are in {}", directory.string());
  return outcome.exit_status;
}

int run(const RunOptions& options) {
  if (options.pid) {
    if (!options.repair.empty() && parse_repair_request(options.repair).is_for_anything())
      fail(kOwnFailure, "--repair is for programs that `prof run` starts; leave it out for running ones");
    if (options.aggregate == Aggregate::Node)
      fail(kOwnFailure, "--aggregate is for programs that `prof run` starts; leave it out for running ones");
    if (!options.command.empty())
      fail(kOwnFailure, "-p names a process that runs already; leave '{}' out, or -p", options.command[0]);
    return attach(*options.pid, options.measuring);
  }
  if (options.command.empty())
    fail(kOwnFailure, "name the program to run, or a process with -p; see prof run --help");
  return run_program(options);
}

}  // namespace

void add_run_command(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Measure a program, analyze and print a summary");
  add_measuring_options(*command, options->measuring);
  command->add_option("-p,--pid", options->pid, "A process that runs already, instead of a program")
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  command
      ->add_flag("--paused", options->measuring.window.paused,
                 "Measure nothing until prof_start() or `prof resume`")
      ->excludes("--delay");
  command->add_flag_callback(
      "--no-devices", [options] { options->devices = false; },
      "Follow the program on no accelerator (OpenCL, CUDA)");
  command
      ->add_option("--device-trace", options->device_trace,
                   "With --trace, of what accelerators execute: all, or what sampling would see [exact]")
      ->transform(choice(kDeviceTraces))
      ->type_name("HOW");
  CLI::Option* const repair =
      command
          ->add_option("--repair", options->repair,
                       "Change what threads contend for in the running program: layout, layout:FILE, locks, "
                       "isolate or "
                       "none [layout,locks]")
          // What shells offer; what it can be is judged as a whole (parse_repair_request).
          ->check(CLI::Validator([](std::string&) { return std::string(); },
                                 "layout|locks|layout,locks|isolate|isolate:always|none"))
          ->type_name("KIND[,KIND]");
  make_value_optional(*repair, kDefaultRepairs);
  CLI::Option* const verify =
      command
          ->add_option(
              "--verify", options->verify,
              "With --repair, run the program again without and with what was found, in N pairs, and "
              "keep what is faster [3]")
          ->check(within(1, 100))
          ->type_name("N");
  make_value_optional(*verify, "3");
  command
      ->add_option("--ranks", options->ranks,
                   "Of a parallel program, the ranks to measure: 0-15,1024 or a share, 10% [all]")
      ->type_name("LIST|PCT%");
  command
      ->add_option("--aggregate", options->aggregate,
                   "Measure on a disk of each node, and leave one file a node: node or none [none]")
      ->transform(choice(kAggregates))
      ->type_name("HOW");
  command->add_option("command", options->command, "The program to measure, and its arguments")
      ->type_name("PROGRAM [ARGUMENT]...");
  command->prefix_command(false);
  command->positionals_at_end(true);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace prof
