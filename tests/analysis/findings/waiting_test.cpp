// Findings about programs that wait.

#include <catch2/catch.hpp>

#include "analysis/findings/locks.h"
#include "analysis/views/run/format_run.h"
#include "analysis/views/run/run_summary.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/findings/found.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("a program that waits is a finding that names what to measure") {
  const Database database = flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20}})");
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE(kinds(findings) == Kinds{"waiting"});
  CHECK(findings[0].sentence ==
        "Waiting: for at least 80 % of its 100.0 s the program used no processor; measure with -e REALTIME "
        "to see "
        "where it waits, and with -e locks to see which threads hold it up.");
  CHECK(findings_of(flawless(R"({"run": {"wall_s": 30, "program_s": 30, "cpu_s": 20}})")).empty());
}

TEST_CASE("a program that waits for a processor says so, and is not found to wait for anything else") {
  const Database database =
      flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20, "run_queue_s": 75, "threads": 1}})");
  CHECK(findings_of(database).empty());
  const Database waits_for_device = flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20},
      "devices": [{"window_s": 99, "busy_s": 76, "cpu_waits_s": 75}]})");
  for (const Finding& finding : findings_of(waits_for_device)) CHECK(finding.kind != FindingKind::Waiting);
  CHECK(format_ran(run_summary(database)) ==
        "100.0 s, 20.0 s of CPU time, 75.0 s waiting for a processor, 1 process, 1 thread");
  CHECK(format_ran(run_summary(flawless(R"({"run": {"cpu_s": 20, "run_queue_s": 0.5, "threads": 1}})"))) ==
        "20.0 s of CPU time, 1 process, 1 thread");
}

TEST_CASE("where a program waits is named if elapsed time was measured") {
  DatabaseBuilder b;
  const uint32_t cpu = b.metric("CPUTIME", "sec"), elapsed = b.metric("REALTIME", "sec");
  b.function("nanosleep", "", "/usr/lib/libc.so.6");
  const uint32_t t = b.thread(0);
  for (int i = 0; i < 20; ++i) b.spend(t, {{"main", 9}, {"g" + std::to_string(i), 7}}, 0.05, cpu);
  for (int i = 0; i < 20; ++i) b.spend(t, {{"main", 9}, {"g" + std::to_string(i), 7}}, 0.05, elapsed);
  b.spend(t, {{"main", 8}, {"fetch", 2}, {"nanosleep"}}, 9, elapsed);
  set_run_text(b.database, R"({"run": {"wall_s": 10, "program_s": 10, "cpu_s": 1}})");
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].sentence ==
        "Waiting: for at least 90 % of its 10.0 s the program used no processor: 90 % of the elapsed time of "
        "its threads passed in fetch "
        "(fetch.cpp:2), which called nanosleep.");
}

TEST_CASE("of a Java program it is said that its monitors are not followed") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function("JavaCalls::call", "", "/usr/lib/jvm/libjvm.so");
  b.spend(b.thread(0), {{"JavaCalls::call"}}, 1);
  const Database database = b.build();
  const CallTree tree = build_call_tree(database, {}, false);
  RunSummary run = run_summary(database);
  CHECK(lock_findings(tree, run).empty());
  run.followed_locks = true;
  const std::vector<Finding> findings = lock_findings(tree, run);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::LocksNotFollowed);
  CHECK(findings[0].sentence.starts_with("Java's monitors (synchronized)"));
}
