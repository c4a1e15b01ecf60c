// Tests the checks of `prof run`, and otherwise the start of the program: the libraries in their order, and
// the environment.

#include "prof/run/plan.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "run_example.h"

using namespace prof;
using Catch::StartsWith;
using hpcrun::ProgramKind;

namespace {

RunFacts facts_of_static(const RunRequest& request) {
  RunFacts facts = facts_of(request);
  facts.target.kind = ProgramKind::Static;
  return facts;
}

RunPlan planned(const RunRequest& request) {
  return plan_run(request, facts_of(request));
}

// Returns a variable of the program's environment; absent if it is not set.
std::optional<std::string> variable(const RunPlan& plan, const std::string& name) {
  std::optional<std::string> found;
  for (const auto& [variable, value] : plan.launch.environment) {
    if (variable != name) continue;
    CHECK_FALSE(found);  // if a variable is set twice, its value depends on the order
    found = value;
  }
  return found;
}

std::string preload(const RunPlan& plan) {
  return variable(plan, "LD_PRELOAD").value_or("none");
}

}  // namespace

TEST_CASE("what only the runtime does is refused for programs that it cannot be in") {
  for (const ProgramKind kind :
       {ProgramKind::Static, ProgramKind::Go, ProgramKind::OtherLibc, ProgramKind::Sanitized}) {
    const auto refused = [&](const RunRequest& request) {
      RunFacts facts = facts_of(request);
      facts.target.kind = kind;
      return refusal_of(request, facts);
    };
    CHECK(
        refused(request_of({"locks"})) ==
        "/bin/app: -e locks needs the preloaded runtime, which this program cannot load; leave -e locks out");
    CHECK(
        refused(request_of({}, "layout")) ==
        "/bin/app: --repair needs the preloaded runtime, which this program cannot load; leave --repair out");
    CHECK(refused(request_of({"contention:pages"})) ==
          "/bin/app: -e contention:pages needs the preloaded runtime, which it cannot load; leave "
          "-e contention:pages out");
    CHECK(refused(request_of({})) == "");
    CHECK(refused(request_of({"contention"})) == "");
  }
}

TEST_CASE("a program that is sampled from outside is refused without perf events, and for wall time alone") {
  const RunRequest request = request_of({});
  RunFacts facts = facts_of_static(request);
  facts.outside_error = EACCES;
  CHECK_THAT(refusal_of(request, facts),
             StartsWith("/bin/app: statically linked, so it cannot load the runtime; it could be sampled "
                        "from outside, but perf events are refused (Permission denied); allow"));
  facts.target.kind = ProgramKind::Dynamic;
  CHECK(refusal_of(request, facts) == "");
  const RunRequest real = request_of({"REALTIME"});
  CHECK_THAT(refusal_of(real, facts_of_static(real)),
             StartsWith("/bin/app: statically linked, so it cannot load the runtime; it is sampled from "
                        "outside, where REALTIME"));
  const RunRequest both = request_of({"REALTIME", "CPUTIME"});
  CHECK(refusal_of(both, facts_of_static(both)) == "");
}

TEST_CASE("an event that the kernel refuses every source of is refused") {
  const RunRequest cpu = request_of({}), real = request_of({"REALTIME"});
  RunFacts facts = facts_of(cpu);
  facts.probe.has_clock = false;
  CHECK_THAT(refusal_of(cpu, facts), StartsWith("cannot sample CPUTIME: perf events and timers are"));
  facts.sampled.events = parse_user_events({"REALTIME"});
  CHECK(refusal_of(real, facts) == "");
  facts.probe.has_timers = false;
  CHECK_THAT(refusal_of(real, facts), StartsWith("cannot sample REALTIME: timers are refused;"));
}

TEST_CASE("threads become processes only by a kernel and an allocator that suit it") {
  const RunRequest repairs = request_of({}, "isolate"), counts = request_of({"contention:pages"});
  RunFacts facts = facts_of(repairs);
  facts.kernel_release = "5.18.19";
  facts.libraries.allocator.clear();
  CHECK(refusal_of(repairs, facts) ==
        "--repair=isolate needs Linux 5.19 or later, but this is 5.18.19; leave it out, or use --repair");
  CHECK(refusal_of(counts, facts) ==
        "-e contention:pages needs Linux 5.19 or later, but this is 5.18.19; leave it out, or use -e "
        "contention");
  facts.kernel_release = "5.19.0";
  CHECK_THAT(refusal_of(repairs, facts),
             StartsWith("--repair=isolate needs libjemalloc.so.2, which is not installed; install it"));
  CHECK_THAT(refusal_of(counts, facts), StartsWith("-e contention:pages needs libjemalloc.so.2"));
  CHECK(refusal_of(request_of({}, "layout"), facts) == "");
}

TEST_CASE("a repair file that cannot be read is refused, one that fits nothing is remarked on") {
  const RunRequest request = request_of({}, "layout:/tmp/repair.json");
  RunFacts facts = facts_of(request);
  facts.given.problem = "/tmp/repair.json: no such file";
  CHECK(refusal_of(request, facts) == "/tmp/repair.json: no such file");
  facts.given.problem.clear();
  facts.given.left_out = {"allocations of main: not repaired, because {} no longer exists"};
  const std::vector<Notes::Line> notes = plan_run(request, facts).notes.all();
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].text == facts.given.left_out[0]);
  CHECK(notes[0].is_remark);
  CHECK_THAT(notes[1].text, StartsWith("/tmp/repair.json: none of its repairs applies to this program;"));
}

TEST_CASE("the libraries of a run come in the order in which calls have to reach them") {
  CHECK(preload(planned(request_of({}))) == "/l/runtime.so");
  CHECK(preload(planned(request_of({"contention"}))) == "/l/runtime.so:/l/memory.so");
  CHECK(preload(planned(request_of({"locks"}))) == "/l/runtime.so:/l/sync.so");
  CHECK(preload(planned(request_of({}, "layout"))) == "/l/runtime.so:/l/memory.so");
  CHECK(preload(planned(request_of({}, "layout:/tmp/repair.json"))) == "/l/runtime.so:/l/memory.so");
  CHECK(preload(planned(request_of({}, "locks"))) == "/l/runtime.so:/l/memory.so:/l/sync.so");
  CHECK(preload(planned(request_of({"contention:pages"}))) ==
        "/l/runtime.so:/l/memory.so:/l/isolate.so:/l/allocator.so");
  CHECK(preload(planned(request_of({}, "isolate"))) ==
        "/l/runtime.so:/l/memory.so:/l/sync.so:/l/isolate.so");
  CHECK(preload(planned(request_of({}, "isolate:always"))) ==
        "/l/runtime.so:/l/memory.so:/l/isolate.so:/l/allocator.so");
}

TEST_CASE("libraries for devices and ranks follow the runtime, the user's own come last") {
  const RunRequest request = request_of({"locks"}, "isolate");
  RunFacts facts = facts_of(request);
  facts.is_unnumbered_rank = true;
  facts.devices = DeviceSurroundings{OpenClWay::Preload, "", false, "", ""};
  facts.preloaded = "/home/u/own.so";
  const RunPlan plan = plan_run(request, facts);
  CHECK(preload(plan) ==
        "/l/runtime.so:/l/opencl.so:/l/memory.so:/l/sync.so:/l/mpi.so:/l/isolate.so:"
        "/home/u/own.so");
  // Trials compare repairs, not allocators.
  CHECK(plan.trial_preload == "/l/runtime.so:/l/opencl.so:/l/memory.so:/l/sync.so:/l/mpi.so:/home/u/own.so");
}

TEST_CASE("nothing is preloaded into programs that fail with the runtime") {
  const RunRequest request = request_of({});
  for (const auto& [kind, list] :
       {std::pair(ProgramKind::OtherLibc, "none"), std::pair(ProgramKind::Sanitized, "none"),
        std::pair(ProgramKind::Static, "/l/runtime.so"), std::pair(ProgramKind::Go, "/l/runtime.so")}) {
    RunFacts facts = facts_of(request);
    facts.target.kind = kind;
    const RunPlan plan = plan_run(request, facts);
    CHECK(preload(plan) == list);
    CHECK(plan.outside_image == "/bin/app");
  }
  CHECK(planned(request).outside_image.empty());
}

TEST_CASE("the runtime is configured with what is sampled, and nothing of what is not requested") {
  const RunPlan plan = planned(request_of({"CPUTIME@99", "REALTIME"}));
  CHECK(variable(plan, "PROF_EVENTS") == "CPUTIME@99,REALTIME@200");
  CHECK(variable(plan, "PROF_TRACE") == "0");
  CHECK(variable(plan, "PROF_TRIGGER") == "sigtrap");
  CHECK(variable(plan, "PROF_OUTSIDE_EXEC") == "/l/exec");
  CHECK(variable(plan, "PROF_MOUNTS") == "4026531841");
  CHECK(plan.launch.environment.size() == 6);  // and LD_PRELOAD
  CHECK(plan.launch.program == "/bin/app");
  CHECK(plan.launch.arguments == std::vector<std::string>{"app", "-n", "4"});
  CHECK(plan.outside.command == "app -n 4");
  CHECK(plan.outside.refusal.empty());
  CHECK(planned(request_of({"REALTIME"})).outside.refusal == "REALTIME is not available there");
}

TEST_CASE("the trigger is the user's unless the machine allows only a later one") {
  const RunRequest request = request_of({});
  RunFacts facts = facts_of(request);
  facts.users_trigger = hpcrun::Trigger::Timer;
  CHECK(variable(plan_run(request, facts), "PROF_TRIGGER") == "timer");
  facts.users_trigger = hpcrun::Trigger::Sigtrap;
  facts.probe.trigger = hpcrun::Trigger::Setsig;
  CHECK(variable(plan_run(request, facts), "PROF_TRIGGER") == "setsig");
}

TEST_CASE("contention is searched for as the request says") {
  const RunPlan sampled = planned(request_of({"contention"}));
  CHECK(variable(sampled, "PROF_CONTENTION") == "1");
  CHECK(variable(sampled, "PROF_MEMORY_EVENTS") == "pebs,1@50#4#1cd#3#0#2#1");
  CHECK_FALSE(variable(sampled, "PROF_SEARCH_RATE"));
  CHECK(sampled.outside.contention);
  const RunPlan pages = planned(request_of({"contention:pages"}));
  CHECK(variable(pages, "PROF_CONTENTION") == "pages");
  CHECK(variable(pages, "PROF_ISOLATE") == "1");
  CHECK_FALSE(variable(pages, "PROF_MEMORY_EVENTS"));
  const RunPlan repairs = planned(request_of({}, "layout"));
  CHECK(variable(repairs, "PROF_EVENTS") == "CPUTIME@50");
  CHECK(variable(repairs, "PROF_SEARCH_RATE") == "250");
  CHECK_FALSE(repairs.outside.contention);
}

TEST_CASE("the runtime is configured with what it may repair") {
  const RunPlan both = planned(request_of({}, "layout,locks"));
  CHECK(variable(both, "PROF_REPAIR") == "layout,locks");
  CHECK_FALSE(variable(both, "PROF_ISOLATE"));
  CHECK_FALSE(variable(both, "PROF_REPAIR_PLAN"));
  CHECK_FALSE(variable(both, "PROF_LOCKS"));
  CHECK(variable(planned(request_of({"locks"})), "PROF_LOCKS") == "1");
  const RunPlan isolates = planned(request_of({}, "isolate"));
  CHECK(variable(isolates, "PROF_REPAIR") == "layout,locks,isolate");
  CHECK(variable(isolates, "PROF_ISOLATE") == "asked");
  CHECK(variable(isolates, "PROF_ISOLATING_ALLOCATOR") == "/l/allocator.so");
  CHECK(variable(isolates, "GLIBC_TUNABLES") == "glibc.rtld.optional_static_tls=4096");
  CHECK(variable(planned(request_of({}, "isolate:always")), "PROF_ISOLATE") == "1");
}

TEST_CASE("repairs of an earlier run are in the directory before the program starts") {
  const RunRequest request = request_of({}, "layout:/tmp/repair.json");
  RunFacts facts = facts_of(request);
  facts.given.repairs.sites = {{{{}, {{"/bin/app", {0xab}, 0x1000}}, 24, 40}, {64, 0, 64}, 9, 0, {}}};
  const RunPlan plan = plan_run(request, facts);
  CHECK(variable(plan, "PROF_REPAIR_PLAN") == "1");
  CHECK(plan.directory.repair_plan == repair_plan(facts.given.repairs));
  CHECK(plan.directory.given.sites.size() == 1);
  CHECK(plan.notes.all().empty());
}

TEST_CASE("devices are followed by the way that the machine offers, and as the user set") {
  const RunRequest request = request_of({});
  RunFacts facts = facts_of(request);
  facts.devices = DeviceSurroundings{OpenClWay::Layer, "/u/layer.so", true, "", ""};
  const RunPlan plan = plan_run(request, facts);
  CHECK(variable(plan, "OPENCL_LAYERS") == "/u/layer.so:/l/runtime.so");
  CHECK(variable(plan, "CUDA_INJECTION64_PATH") == "/l/runtime.so");
  CHECK(plan.notes.all().empty());
  facts.devices->cuda_injection = "/u/injection.so";
  const RunPlan other = plan_run(request, facts);
  CHECK_FALSE(variable(other, "CUDA_INJECTION64_PATH"));
  REQUIRE(other.notes.all().size() == 1);
  CHECK_THAT(other.notes.all()[0].text, StartsWith("CUDA_INJECTION64_PATH is set (/u/injection.so), and"));
  facts.devices->cuda_mode = "both";
  CHECK(refusal_of(request, facts) == "PROF_CUDA_MODE is both; set it to events or cupti, or unset it");
  facts.devices.reset();
  CHECK_FALSE(variable(plan_run(request, facts), "OPENCL_LAYERS"));
}

TEST_CASE("a rank gets the variables of its launch, and names its files apart from others'") {
  RunOptions options = options_of({});
  options.aggregate = Aggregate::Node;
  options.measuring.window.paused = true;
  options.measuring.output = "out";
  RankFacts rank{true, false, "node7-3-", {{"PROF_LAUNCH", "l1"}, {"PROF_RELEASE", "prof 1"}}};
  const RunRequest request = read_run_request(options, &rank);
  RunFacts facts = facts_of(request);
  facts.rank = rank;
  const RunPlan plan = plan_run(request, facts);
  CHECK(variable(plan, "PROF_LAUNCH") == "l1");
  CHECK(plan.outside.launch_variables == rank.environment);
  CHECK(plan.launch.file_prefix == "node7-3-");
  CHECK(plan.launch.watches_debuggers);  // in the node's directory, which has few ranks
  CHECK(plan.directory.aggregates);
  CHECK(plan.directory.is_paused);
  CHECK(plan.directory.asked == "out");
  CHECK(plan.directory.program == "app");

  facts.rank->shares_directory = false;
  RunRequest alone = request;
  alone.options.aggregate = Aggregate::None;
  const RunPlan own = plan_run(alone, facts);
  CHECK(own.launch.file_prefix.empty());
  CHECK_FALSE(own.launch.watches_debuggers);
}
