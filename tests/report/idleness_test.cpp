#include "analysis/views/run/idleness.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/findings/device_idleness.h"
#include "analysis/views/run/device_calls.h"
#include "analysis/views/run/team_waits.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/idle_device.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

struct JudgedIdleness : Idleness {
  std::vector<Finding> findings;
};

JudgedIdleness idleness_of(const Database& database) {
  Idleness found = idleness(database, select(database, {}, {}), run_summary(database));
  std::vector<Finding> findings = device_idleness_findings(found);
  return {std::move(found), std::move(findings)};
}

Rendered shown(const Database& database, ReportView view, ReportFormat format = ReportFormat::Text) {
  ReportOptions options;
  options.view = view;
  options.format = format;
  options.columns = 100;
  return rendered(database, options);
}

}  // namespace

TEST_CASE("a call that keeps the device idle is named with its caller, its line, its shares and what helps") {
  const Database database = program();
  const JudgedIdleness found = idleness_of(database);
  REQUIRE(found.device.size() == 3);
  const Blamed& release = found.device[0];
  CHECK(release.what == "clReleaseMemObject");
  CHECK(release.is_call);
  CHECK(release.caller == "step");
  CHECK(release.location == "step.cpp:31");
  CHECK(release.value_s == Approx(1.5));  // includes the driver's work in the call
  CHECK(release.share == Approx(0.5));
  CHECK(release.share_of_run == Approx(0.15));
  REQUIRE(!found.findings.empty());
  const auto finding = std::ranges::find(found.findings, FindingKind::DeviceIdle, &Finding::kind);
  REQUIRE(finding != found.findings.end());
  CHECK(finding->sentence ==
        "clReleaseMemObject called from step (step.cpp:31) synchronizes: 50 % of device idleness, at most "
        "15 % of the run time; allocate once outside the loop and use the buffer again.");
  CHECK(finding->metric == "GPU_IDLE_CAUSE");
  CHECK(finding->severity == Severity::Medium);
  REQUIRE(finding->contexts.size() == 1);
  CHECK(finding->contexts[0].frames.front().function == "clReleaseMemObject");
  CHECK(finding->contexts[0].frames[1].function == "step");
  CHECK(finding->contexts[0].frames[1].line == 31);
}

TEST_CASE("computing while the device is idle is named with its line") {
  const Database database = program();
  const JudgedIdleness found = idleness_of(database);
  const Blamed& prepare = found.device[1];
  CHECK(prepare.what == "prepare");
  CHECK_FALSE(prepare.is_call);
  CHECK(prepare.location == "step.cpp:5");
  CHECK(prepare.share == Approx(1.0 / 3));
  CHECK(std::ranges::any_of(found.findings, [](const Finding& f) {
    return f.sentence ==
           "The device has no work while prepare (step.cpp:5) called from step (step.cpp:12) computes: 33 % "
           "of "
           "device idleness, at most 10 % of the run time; launch independent work before it, "
           "or move it to the device.";
  }));
}

TEST_CASE("kernels are ranked by what threads waited for, beside their time") {
  const Database database = program();
  const JudgedIdleness found = idleness_of(database);
  REQUIRE(found.tasks.size() == 2);
  CHECK(found.tasks[0].name == "KernelN");
  CHECK(found.tasks[0].blame_rank == 1);
  CHECK(found.tasks[0].time_rank == 2);
  CHECK(found.tasks[1].name == "KernelM");
  CHECK(found.findings[0].sentence ==
        "KernelN launched from step (step.cpp:18) keeps the CPU waiting, mostly in clFinish called from step "
        "(step.cpp:20): 86 % of CPU idleness, at most 30 % of the run time, 10 % by overlap (number 1 by "
        "blame, "
        "2 by time); make it faster, or give the CPU work that does not need its result.");
  REQUIRE(found.waits.size() == 1);
  CHECK(found.waits[0].at.what == "clFinish");
  CHECK(found.waits[0].at.value_s == Approx(4));
  CHECK(found.waits[0].wake_latency_s == Approx(0.5));
  CHECK(found.waits[0].gap_s == 0);
}

// Two functions that launch and compute through the same helpers, and wait in two places.
Database with_helpers() {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/step", 30);
  for (const char* name : {"filter", "sort", "launch", "spin"})
    b.function(name, "step.cpp", "/home/me/step", 3);
  b.function("clFinish", "", "/lib/libOpenCL.so.1");
  b.function("Kernel", "", "[device]");
  b.metric("CPUTIME", "sec");
  const uint32_t gpu_idle = b.metric("GPU_IDLE_CAUSE", "sec"), cpu_idle = b.metric("CPU_IDLE", "sec"),
                 cause = b.metric("CPU_IDLE_CAUSE", "sec");
  const uint32_t main = b.thread(0, "step");
  b.spend(main, {{"main", 40}, {"filter", 12}, {"spin", 5}}, 2, gpu_idle);
  b.spend(main, {{"main", 41}, {"sort", 21}, {"spin", 5}}, 1, gpu_idle);
  b.spend(main, {{"main", 40}, {"filter", 13}, {"clFinish"}}, 2, cpu_idle);
  b.spend(main, {{"main", 41}, {"sort", 22}, {"clFinish"}}, 2, cpu_idle);
  b.spend(main, {{"main", 40}, {"filter", 11}, {"launch", 4}, {"Kernel"}}, 3, cause);
  b.spend(main, {{"main", 41}, {"sort", 20}, {"launch", 4}, {"Kernel"}}, 1, cause);
  set_run_text(b.database, kRun);
  return b.build();
}

TEST_CASE("what is done through helpers is distinguished by who calls them") {
  const Database database = with_helpers();
  const JudgedIdleness found = idleness_of(database);
  REQUIRE(found.device.size() == 2);
  CHECK(found.device[0].what == "spin");
  CHECK(found.device[0].location == "step.cpp:5");
  CHECK(found.device[0].caller == "filter");
  CHECK(found.device[0].caller_location == "step.cpp:12");
  CHECK(found.device[1].caller == "sort");
  REQUIRE(found.cpu.size() == 2);
  CHECK(found.cpu[0].caller == "launch");
  CHECK(found.cpu[0].outer_caller == "filter");
  CHECK(found.cpu[0].outer_location == "step.cpp:11");
  CHECK(found.cpu[1].outer_caller == "sort");
  const auto finding = std::ranges::find(found.findings, FindingKind::CpuIdle, &Finding::kind);
  REQUIRE(finding != found.findings.end());
  // If two places have half of the waiting each, either may be named.
  CHECK(
      finding->sentence.starts_with("Kernel launched from launch (step.cpp:4), called from filter "
                                    "(step.cpp:11), keeps the CPU waiting: 75 % of CPU idleness"));
}

TEST_CASE("threads that wait in OpenMP or OpenBLAS for others are not to blame") {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/step", 30);
  b.function("loop", "step.cpp", "/home/me/step", 3);
  b.function("gomp_thread_start", "", "/lib/libgomp-a34b3233.so.1");
  b.function("gomp_barrier_wait_end", "", "/lib/libgomp-a34b3233.so.1");
  b.function("blas_thread_server", "", "/lib/libscipy_openblas64_-61654e39.so");
  b.function("dgemm_kernel", "", "/lib/libscipy_openblas64_-61654e39.so");
  b.function("sched_yield", "", "/lib/libc.so.6");
  b.function("memcpy", "", "/lib/libc.so.6");
  b.metric("CPUTIME", "sec");
  const uint32_t gpu_idle = b.metric("GPU_IDLE_CAUSE", "sec");
  const uint32_t main = b.thread(0, "step"), worker = b.thread(1, "worker");
  b.spend(main, {{"main", 40}, {"loop", 5}}, 1, gpu_idle);
  b.spend(main, {{"main", 40}, {"memcpy", 1}}, 0.5, gpu_idle);
  b.spend(worker, {{"gomp_thread_start"}, {"loop", 5}}, 0.25, gpu_idle);
  b.spend(worker, {{"gomp_thread_start"}, {"gomp_barrier_wait_end"}}, 8, gpu_idle);
  b.spend(worker, {{"blas_thread_server"}, {"sched_yield"}}, 4, gpu_idle);
  b.spend(worker, {{"blas_thread_server"}, {"dgemm_kernel"}}, 0.25, gpu_idle);
  set_run_text(b.database, kRun);
  const Database database = b.build();
  const JudgedIdleness found = idleness_of(database);
  CHECK(found.team_waits_s == Approx(12));
  CHECK(found.unblamed_s == Approx(1));  // of 3 s of idleness, 2 of which are blamed
  REQUIRE(found.device.size() == 4);
  CHECK(found.device[0].what == "loop");
  CHECK(found.device[0].share == Approx(0.5));
  CHECK(found.device[0].share_of_run == Approx(0.1));  // 2 s of blame in 3 s of idleness are not scaled
  CHECK(shown(database, ReportView::Idleness)
            .text.find("12.000 s                  not blamed: threads waited for other threads in OpenMP") !=
        std::string::npos);
}

TEST_CASE("who prepares work for the device in OpenMP's library is not waiting") {
  for (const char* library : {"/usr/lib/libgomp.so.1", "/w/torch/lib/libgomp-a34b3233.so.1", "/opt/libomp.so",
                              "/opt/intel/libiomp5.so"})
    CHECK(waits_in_team(library, "spin"));
  CHECK_FALSE(waits_in_team("/usr/lib/libgomp-plugin-nvptx.so.1", "wait"));
  CHECK_FALSE(waits_in_team("/usr/lib/libgomp.so.1", "GOMP_target_ext"));
  CHECK_FALSE(waits_in_team("/usr/lib/libgomp.so.1", "gomp_map_vars"));
  CHECK_FALSE(waits_in_team("/usr/lib/libomptarget.so", "wait"));
  CHECK_FALSE(waits_in_team("/usr/lib/libgompertz.so", "fit"));
}

TEST_CASE("blame of several threads at once saves no more than the time in which the device was idle") {
  Database database = program();
  auto run = run_of(database);
  run["devices"][0]["busy_s"] = 7.5;  // idle for 0.5 s, where 3 s of blame were given
  set_run(database, run);
  const JudgedIdleness found = idleness_of(database);
  CHECK(found.device[0].share == Approx(0.5));
  CHECK(found.device[0].share_of_run == Approx(0.025));
}

TEST_CASE("savings are shares of the program's own time") {
  Database database = program();
  auto run = run_of(database);
  run["run"]["program_s"] = 8.0;  // 2 s were the runtime's, or loading
  set_run(database, run);
  CHECK(idleness_of(database).device[0].share_of_run == Approx(1.5 / 8));
}

TEST_CASE("of several processes savings are shares of the sum of their own times") {
  Database database = program();
  auto run = run_of(database);
  run["run"]["program_s"] = 9.0;
  run["devices"][0]["program_s"] = 8.5;
  run["devices"].push_back(run["devices"][0]);
  run["devices"][1]["process"] = 101;
  set_run(database, run);
  CHECK(idleness_of(database).device[0].share_of_run == Approx(1.5 / 17));
}

TEST_CASE("overlap saves no more than either side works alone") {
  // During 8 s in use, the device works alone for 3 s, while a thread waits. Threads wait for 4 s, and work
  // alone for the rest of its 3 s of idleness.
  const Database database = program();
  const JudgedIdleness found = idleness_of(database);
  const auto by_overlap = [](const std::vector<Blamed>& all, const char* what) {
    const auto at = std::ranges::find(all, what, &Blamed::what);
    return at == all.end() ? -1 : at->share_by_overlap;
  };
  CHECK(by_overlap(found.device, "prepare") == Approx(0.1));
  // KernelN costs 3 s of waiting, in which there is 1 s of computing to be done: 2 s are calls.
  CHECK(by_overlap(found.cpu, "KernelN") == Approx(0.1));
  CHECK(by_overlap(found.cpu, "KernelM") == Approx(0.05));

  Database seldom = program();
  auto run = run_of(seldom);
  run["devices"][0]["overlap_s"] = 4.75;    // the device works alone for 0.25 s
  run["devices"][0]["cpu_waits_s"] = 2.75;  // threads for 0.5 s: 2.5 s of waiting are for nothing that runs
  set_run(seldom, run);
  const Idleness little = idleness_of(seldom);
  CHECK(by_overlap(little.device, "prepare") == Approx(0.025));
  CHECK(by_overlap(little.cpu, "KernelN") == Approx(0.05));
}

TEST_CASE("the device findings stand in the summary") {
  const Rendered text = shown(program(), ReportView::Summary);
  CHECK(text.status == 0);
  CHECK(text.text.find("KernelN launched from step (step.cpp:18) keeps the CPU waiting") !=
        std::string::npos);
  const auto json = nlohmann::json::parse(shown(program(), ReportView::Summary, ReportFormat::Json).text);
  CHECK(std::ranges::any_of(json["findings"], [](const auto& f) { return f["kind"] == "device-idle"; }));
}

TEST_CASE("the idleness report shows shares, findings, causes, waits and ranks") {
  const Rendered text = shown(program(), ReportView::Idleness);
  CHECK(text.status == 0);
  CHECK(text.text == golden("idleness.txt"));
  const auto json = nlohmann::json::parse(shown(program(), ReportView::Idleness, ReportFormat::Json).text);
  CHECK(json["schema"] == "prof-report/1");
  CHECK(json["view"] == "idleness");
  CHECK(json["device_idle"][0]["function"] == "clReleaseMemObject");
  CHECK(json["device_idle"][0]["context"]["frames"][1]["line"] == 31);
  CHECK(json["tasks"][0]["rank_by_time"] == 2);
  CHECK(json["waits"][0]["wake_latency_s"].get<double>() == Approx(0.5));
  CHECK(json["findings"].size() == 5);
  const auto csv = lines_of(shown(program(), ReportView::Idleness, ReportFormat::Csv).text);
  REQUIRE(csv.size() == 6);
  CHECK(csv[1] == "device,clReleaseMemObject,step,step.cpp:31,1.5,0.5,0.15");
}

TEST_CASE("the devices report shows each device with its queues") {
  const Rendered text = shown(program(), ReportView::Devices);
  CHECK(text.status == 0);
  CHECK(text.text == golden("devices.txt"));
  const auto json = nlohmann::json::parse(shown(program(), ReportView::Devices, ReportFormat::Json).text);
  const auto& device = json["devices"][0];
  CHECK(device["idle_s"].get<double>() == Approx(3));
  CHECK(device["queues"][0]["tasks"] == 120);
  CHECK(device["queues"][0]["execution_s"].get<double>() == Approx(5));
  CHECK(device["queues"][0]["to_device_bytes"] == 2048);
  CHECK(device["queues"][0]["thread"] == "100.device0.queue0 queue 1");
  CHECK(lines_of(shown(program(), ReportView::Devices, ReportFormat::Csv).text).size() == 2);
}

TEST_CASE("a run without devices says so, and has empty lists") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"main", 1}}, 1);
  const Database database = b.build();
  for (const ReportView view : {ReportView::Devices, ReportView::Idleness}) {
    CHECK(shown(database, view).text.starts_with("No device was used"));
    CHECK(nlohmann::json::parse(shown(database, view, ReportFormat::Json).text)["devices"].empty());
  }
}

TEST_CASE("calls of device APIs are distinguished from other functions, and each has advice that fits") {
  for (const char* name : {"clFinish", "cuLaunchKernel", "cudaMemcpy", "cl::CommandQueue::finish() const"})
    CHECK(is_device_call(name));
  for (const char* name : {"clear", "close", "current", "cudaesque", "cl", "cut_Tree", "main"})
    CHECK_FALSE(is_device_call(name));
  CHECK(advice_for_call("clEnqueueReadBuffer").advice.find("without blocking") != std::string::npos);
  CHECK(advice_for_call("cudaFree").advice.find("allocate once") != std::string::npos);
  CHECK(advice_for_call("clBuildProgram").advice.find("once at the start") != std::string::npos);
  CHECK(advice_for_call("cudaDeviceSynchronize").does == "synchronizes");
  CHECK(advice_for_call("clSomethingNew").does == "leaves the device without work");
}

TEST_CASE("functions of a program without symbols are named by their place in it") {
  for (const bool stripped : {true, false}) {
    DatabaseBuilder b;
    b.function("start", "", "/lib/libstart.so");
    b.function("step+0x1500", "", "/home/me/step");
    b.function("clCreateBuffer", "", "/lib/libOpenCL.so.1");
    if (!stripped) b.function("main", "", "/home/me/step");
    b.metric("CPUTIME", "sec");
    const uint32_t gpu_idle = b.metric("GPU_IDLE_CAUSE", "sec");
    const uint32_t main = b.thread(0, "step");
    b.spend(main, {{"start"}, {"step+0x1500"}, {"clCreateBuffer"}}, 2, gpu_idle);
    set_run_text(b.database, kRun);
    const JudgedIdleness found = idleness_of(b.build());
    REQUIRE(found.device.size() == 1);
    CHECK(found.device[0].caller == (stripped ? "step+0x1500" : "start"));
  }
}

TEST_CASE("an event that keeps commands of another queue waiting is named by its enqueue") {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/step", 30);
  for (const char* name : {"upload", "filter"}) b.function(name, "step.cpp", "/home/me/step", 3);
  for (const char* name : {"Copy", "Kernel"}) b.function(name, "", "[device]");
  b.metric("CPUTIME", "sec");
  const uint32_t wait = b.metric("EVENT_WAIT", "sec"), cause = b.metric("EVENT_WAIT_CAUSE", "sec");
  const uint32_t main = b.thread(0, "step");
  b.spend(main, {{"main", 40}}, 1);
  b.spend(main, {{"main", 41}, {"upload", 5}, {"Copy"}}, 3, cause);
  b.spend(main, {{"main", 42}, {"filter", 9}, {"Kernel"}}, 3, wait);
  set_run_text(b.database, kRun);
  const JudgedIdleness found = idleness_of(b.build());
  REQUIRE(found.findings.size() == 1);
  const Finding& finding = found.findings[0];
  CHECK(finding.kind == FindingKind::EventWait);
  CHECK(finding.severity == Severity::High);
  CHECK(finding.sentence ==
        "Copy launched from upload (step.cpp:5) makes commands of other queues wait for its event, mostly "
        "Kernel launched from filter (step.cpp:9): at most 30 % of the run time; take the event out of the "
        "wait list if they do not need its result.");
  REQUIRE(finding.contexts.size() == 2);
  CHECK(finding.contexts[1].role == "wait");
}

TEST_CASE("ranks that wait in MPI for others do not keep their device idle") {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/step", 30);
  b.function("MPI_Allreduce", "", "/lib/libmpi.so.40");
  b.function("opal_progress", "", "/lib/libopen-pal.so.40");
  b.function("sched_yield", "", "/lib/libc.so.6");
  b.function("MPI_File_write", "", "/lib/libmpi.so.40");
  b.metric("CPUTIME", "sec");
  const uint32_t gpu_idle = b.metric("GPU_IDLE_CAUSE", "sec");
  const uint32_t main = b.thread(0, "step");
  b.spend(main, {{"main", 40}, {"MPI_Allreduce"}, {"opal_progress"}, {"sched_yield"}}, 2.5, gpu_idle);
  b.spend(main, {{"main", 41}, {"MPI_File_write"}}, 0.5, gpu_idle);
  set_run_text(b.database, kRun);
  const Database database = b.build();
  const JudgedIdleness found = idleness_of(database);
  CHECK(found.rank_waits_s == Approx(2.5));
  REQUIRE(found.device.size() == 1);
  CHECK(found.device[0].what == "MPI_File_write");
  CHECK(shown(database, ReportView::Idleness).text.find("ranks waited for other ranks in MPI") !=
        std::string::npos);
}
