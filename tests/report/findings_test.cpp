#include "analysis/views/findings.h"
#include "analysis/views/lock_findings.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "analysis/views/overhead.h"
#include "analysis/views/run_in_words.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

std::vector<Finding> findings_of(const Database& database) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  return find(tree, run_summary(database));
}

std::vector<std::string> kinds(const std::vector<Finding>& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) result.push_back(finding.kind);
  return result;
}

using Kinds = std::vector<std::string>;

// A run in which nothing but what `json` says is noteworthy.
Database flawless(const std::string& json = "{}") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  for (int i = 0; i < 20; ++i)
    b.spend(t, {{"main", 2}, {"f" + std::to_string(i % 5), 1}, {"g" + std::to_string(i), 7}}, 1);
  b.database.run_json = json;
  return b.build();
}

std::string only_sentence(const std::string& json) {
  const Database database = flawless(json);
  for (const Finding& finding : findings_of(database))
    if (finding.kind != "waiting") return finding.sentence;
  return "";
}

}  // namespace

TEST_CASE("the hottest function is named with its line, its share and where it is reached from") {
  const Database database = example();
  const Finding finding = findings_of(database).front();
  CHECK(finding.kind == "hot-path");
  CHECK(finding.severity == Severity::High);
  CHECK(finding.sentence ==
        "62 % of the CPU time is in slow_sum (sum.cpp:14), reached from main (main.cpp:40).");
  REQUIRE(finding.cost);
  CHECK(finding.cost->value == Approx(4.96));
  CHECK(finding.cost->share_of_run == Approx(0.62));
  REQUIRE(finding.contexts.size() == 1);
  REQUIRE(finding.contexts[0].frames.size() == 2);
  CHECK(finding.contexts[0].frames[1].function == "main");
  CHECK(finding.contexts[0].frames[1].file == "src/main.cpp");
}

TEST_CASE("what the runtime itself took is no place in the program") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function("[prof]", "", "/opt/prof/lib/libhpcrun.so");
  b.function("work", "work.cpp", "/home/me/app", 3);
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 2}, {"[prof]"}}, 6);
  b.spend(t, {{"main", 3}, {"work", 5}}, 3);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  CHECK(findings.front().sentence ==
        "33 % of the CPU time is in work (work.cpp:5), reached from main (main.cpp:3).");
  for (const Finding& finding : findings) CHECK(finding.sentence.find("[prof]") == std::string::npos);
}

TEST_CASE("a line that has not all of a function's cost is named with its share of it") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 1}, {"work", 5}}, 2);
  b.spend(t, {{"main", 1}, {"work", 8}}, 8);
  const Database database = b.build();
  CHECK(findings_of(database).front().sentence ==
        "100 % of the CPU time is in work (80 % of that at work.cpp:8), reached from main (main.cpp:1).");
}

TEST_CASE("findings come by falling severity, those about the measurement behind the others") {
  const Database database = example();
  const std::vector<Finding> findings = findings_of(database);
  CHECK(kinds(findings) == Kinds{"hot-path", "stack-quality", "rate"});
  for (size_t i = 2; i < findings.size(); ++i) CHECK(findings[i - 1].severity >= findings[i].severity);
}

TEST_CASE("a flat profile has no hot function, but the subtree that holds it is named") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  for (int i = 0; i < 20; ++i) b.spend(t, {{"main", 2}, {"parse", 3}, {"g" + std::to_string(i), 7}}, 4);
  for (int i = 0; i < 4; ++i) b.spend(t, {{"main", 3}, {"h" + std::to_string(i), 7}}, 5);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE(kinds(findings) == Kinds{"hot-subtree"});
  CHECK(
      findings[0].sentence ==
      "80 % of the CPU time is spent in parse (parse.cpp:3) and what it calls, spread over several callees.");
}

TEST_CASE("a subtree with nearly all of the cost is the program, and no finding") {
  CHECK(findings_of(flawless()).empty());
}

TEST_CASE("a line of the program is named for the library code that it calls") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function("memcpy", "", "/usr/lib/libc.so.6");
  b.function("std::operator+", "", "/home/me/app");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 2}, {"read", 65}, {"std::operator+"}, {"memcpy"}}, 4);
  b.spend(t, {{"main", 2}, {"read", 65}, {"std::operator+"}}, 1);
  for (int i = 0; i < 5; ++i) b.spend(t, {{"main", 3}, {"f" + std::to_string(i), 7}}, 1);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].kind == "hot-path");
  CHECK(findings[0].sentence ==
        "50 % of the CPU time is in read (read.cpp:65) and the library code that it calls: 50 % in "
        "std::operator+.");
  REQUIRE(findings[0].contexts[0].frames.size() == 2);
  CHECK(findings[0].contexts[0].frames[1].function == "main");
  for (const Finding& finding : findings) CHECK_FALSE(finding.sentence.find("memcpy") != std::string::npos);
}

TEST_CASE("a program that waits is a finding that names what to measure") {
  const Database database = flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20}})");
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE(kinds(findings) == Kinds{"waiting"});
  CHECK(findings[0].sentence ==
        "Waiting: for at least 80 % of its 100.0 s the program used no processor; measure with -e REALTIME to see "
        "where it waits, and with -e locks to see which threads hold it up.");
  CHECK(findings_of(flawless(R"({"run": {"wall_s": 30, "program_s": 30, "cpu_s": 20}})")).empty());
}

TEST_CASE("a program that waits for a processor says so, and is not found to wait for anything else") {
  const Database database =
      flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20, "run_queue_s": 75, "threads": 1}})");
  CHECK(findings_of(database).empty());
  const Database waits_for_device = flawless(R"({"run": {"wall_s": 100, "program_s": 100, "cpu_s": 20},
      "devices": [{"window_s": 99, "busy_s": 76, "cpu_waits_s": 75}]})");
  for (const Finding& finding : findings_of(waits_for_device)) CHECK(finding.kind != "waiting");
  CHECK(ran_in_words(run_summary(database)) ==
        "100.0 s, 20.0 s of CPU time, 75.0 s waiting for a processor, 1 process, 1 thread");
  CHECK(ran_in_words(run_summary(flawless(R"({"run": {"cpu_s": 20, "run_queue_s": 0.5, "threads": 1}})"))) ==
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
  b.database.run_json = R"({"run": {"wall_s": 10, "program_s": 10, "cpu_s": 1}})";
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].sentence ==
        "Waiting: for at least 90 % of its 10.0 s the program used no processor: 90 % of the elapsed time of its threads passed in fetch "
        "(fetch.cpp:2), which called nanosleep.");
}

TEST_CASE("the subtree in which cost spreads is named by what the program called") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  std::vector<At> path = {{"main", 5}, {"void std::sort<int*>(int*, int*)", 10}};
  for (double cost = 28; cost > 0.5; cost /= 2) {
    path.push_back({"void std::__introsort_loop<int*, long>(int*, int*, long)", 20});
    path.push_back({"step" + std::to_string(path.size()), 7});
    b.spend(t, path, cost);
    path.pop_back();
  }
  b.spend(t, {{"main", 6}, {"Mat::sum", 9}}, 41);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE(kinds(findings) == Kinds{"hot-path", "hot-subtree"});
  CHECK(findings[0].sentence.starts_with("43 % of the CPU time is in Mat::sum"));
  CHECK(
      findings[1].sentence.starts_with("57 % of the CPU time is spent in void std::sort<int*>(int*, int*)"));
  REQUIRE(findings[1].contexts[0].frames.size() == 2);
  CHECK(findings[1].contexts[0].frames[1].function == "main");
}

TEST_CASE("a subtree without a name goes by the nearest caller that has one") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.function("_start", "", "/usr/lib/cc1");
  b.function("compile", "", "/usr/lib/cc1");
  b.function("cc1+0x40", "", "/usr/lib/cc1");
  for (int i = 0; i < 20; ++i)
    b.spend(t, {{"_start"}, {"compile"}, {"cc1+0x40"}, {"f" + std::to_string(i), 1}}, 1);
  b.spend(t, {{"_start"}, {"compile"}, {"other", 2}}, 1);
  for (int i = 0; i < 3; ++i) b.spend(t, {{"_start"}, {"link" + std::to_string(i), 3}}, 1);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  REQUIRE_FALSE(findings.empty());
  CHECK(findings[0].sentence ==
        "88 % of the CPU time is spent in compile (cc1) and what it calls, spread over several callees.");
}

TEST_CASE("a function is reached from the nearest other function with a name, never from start code") {
  const auto sentence = [](const std::vector<std::string>& callers) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    std::vector<At> path;
    for (const std::string& name : callers) {
      b.function(name, name.starts_with('_') ? "libc-start.c" : "", "/usr/lib/x");
      path.push_back({name, name.starts_with('_') ? 80u : 0u});
    }
    b.spend(b.thread(0), path, 1);
    const Database database = b.build();
    return findings_of(database).front().sentence;
  };
  const std::string hot = "100 % of the CPU time is in ";
  CHECK(sentence({"_start", "__libc_start_call_main", "SHA256_Update", "x+0x20", "sha256_block"}) ==
        hot + "sha256_block (x), reached from SHA256_Update (x).");
  CHECK(sentence({"clone3", "start_thread", "lzma_code"}) == hot + "lzma_code (x).");
  CHECK(sentence({"x+0x1500", "[x]", "x+0x1500"}) == hot + "x+0x1500.");
  CHECK(sentence({"void std::sort<int*>(int*, int*)", "int* std::__partition<int*>(int*)", "swap"}) ==
        hot + "swap (x), reached from void std::sort<int*>(int*, int*) (x).");
  CHECK(sentence({"std::__1::vector<int>::push_back(int)", "grow"}) ==
        hot + "grow (x), reached from std::__1::vector<int>::push_back(int) (x).");
  CHECK(sentence({"main", "std::_List<Pair<int, int> > position<int>(int)", "find"}) ==
        hot + "find (x), reached from std::_List<Pair<int, int> > position<int>(int) (x).");
  CHECK(sentence({"fib", "fib", "fib"}) == hot + "fib (x).");
}

TEST_CASE("incomplete stacks are explained by their most frequent reason") {
  CHECK(only_sentence(R"({"stacks": {"complete": 88, "partial": 0, "broken": 12,
                          "reasons": {"end of stack": 88, "bad return address": 10, "no progress": 2}}})") ==
        "12 % of samples have broken stacks, mostly because a return address points to no code; look for "
        "hand-written "
        "assembly without unwind information.");
  CHECK(only_sentence(
            R"({"stacks": {"complete": 90, "partial": 10, "broken": 0, "reasons": {"TooDeep": 10}}})") ==
        "10 % of samples have partial stacks, mostly because they are deeper than 8192 frames; look for "
        "unbounded "
        "recursion.");
  CHECK(only_sentence(
            R"({"stacks": {"complete": 94, "partial": 3, "broken": 3, "reasons": {"cosmic rays": 6}}})") ==
        "6.0 % of samples have partial or broken stacks, mostly because cosmic rays.");
  CHECK(only_sentence(R"({"stacks": {"complete": 995, "partial": 5, "broken": 0}})").empty());
}

TEST_CASE("a rate is found wanting below nine tenths of what was asked for") {
  CHECK(only_sentence(R"({"sampling": {"requested_hz": 1000, "delivered_hz": 640, "samples": 9000}})") ==
        "Delivered 640 of 1000 samples/s: shares stay right because samples are weighted by elapsed time, "
        "but detail "
        "is coarser than asked for.");
  CHECK(
      only_sentence(R"({"sampling": {"requested_hz": 1000, "delivered_hz": 900, "samples": 9000}})").empty());
}

TEST_CASE("dropped samples, overhead and too few samples are found") {
  CHECK(only_sentence(R"({"sampling": {"samples": 900, "dropped": {"DroppedFileFull": 100}}})") ==
        "10 % of samples were dropped, mostly because the measurement file could not grow; free space on the "
        "disk, or "
        "write elsewhere with -o DIR.");
  // Merged samples lose no time.
  CHECK(only_sentence(R"({"sampling": {"samples": 900, "dropped": {"overrun": 800}}})").empty());
  CHECK(only_sentence(R"({"run": {"cpu_s": 10}, "overhead": {"cpu_s_estimate": 0.8}})") ==
        "Measuring took about 8.0 % of the CPU time: ask for fewer samples per second.");
  CHECK(only_sentence(R"({"run": {"cpu_s": 10}, "overhead": {"cpu_s_estimate": 0.4}})").empty());
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 10}, "sampling": {"samples": 9000}, "overhead": {"cpu_s_estimate": 0.8}})") ==
      "Measuring took about 8.0 % of the CPU time, most of it to learn how the libraries that it loads are "
      "unwound: "
      "measure a longer run, for that is done once.");
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 10}, "sampling": {"samples": 90000}, "overhead": {"cpu_s_estimate": 0.8}})") ==
      "Measuring took about 8.0 % of the CPU time: ask for fewer samples per second.");
  static constexpr const char of_parts[] =
      R"({{"run": {{"cpu_s": 10}}, "sampling": {{"samples": 9000}}, "overhead": {{"cpu_s_estimate": 0.8, "start_s": {}}}}})";
  CHECK(
      only_sentence(fmt::format(of_parts, 0.1)) ==
      "Measuring took about 8.0 % of the CPU time, most of it in samples: ask for fewer samples per second.");
  CHECK(only_sentence(fmt::format(of_parts, 0.7)) ==
        "Measuring took about 8.0 % of the CPU time, most of it to learn how the libraries that it loads are "
        "unwound: measure a longer run, for that is done once.");
  RunSummary run;
  run.overhead_cpu_s = 5;
  CHECK(largest_part(run) == OverheadPart::None);
  run.overhead_start_s = 0.1;
  run.overhead_hooks_s = 4;
  CHECK(largest_part(run) == OverheadPart::Hooks);
  CHECK(overhead_in_words(run) == "about 5.00 s of CPU time, 4.00 s of it in intercepted calls");
  // Of next to no CPU time it says little: most is start and end. A program that waits has nothing to gain.
  CHECK(only_sentence(R"({"run": {"cpu_s": 0.003}, "overhead": {"cpu_s_estimate": 0.002}})").empty());
  CHECK(only_sentence(R"({"run": {"wall_s": 100, "cpu_s": 0.3}, "overhead": {"cpu_s_estimate": 0.2}})")
            .empty());
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 0.03}, "sampling": {"samples": 25}, "overhead": {"cpu_s_estimate": 0.01}})") ==
      "Only 25 samples: shares are uncertain by up to 10 points; run it longer, or ask for more samples "
      "per second.");
}

TEST_CASE("samples are too few by those of the metric and the threads that are shown") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.metric("REALTIME", "sec");
  const uint32_t busy = b.thread(0), idle = b.thread(1);
  b.spend(busy, {{"f", 1}}, 0.95, 0);
  b.spend(idle, {{"f", 1}}, 0.05, 0);
  b.spend(idle, {{"f", 1}}, 5, 1);
  b.database.run_json = R"({"sampling": {"samples": 1025, "metrics":
      {"CPUTIME": {"samples": 1000}, "REALTIME": {"samples": 25}}}})";
  const Database database = b.build();
  const auto few = [&](const std::vector<std::string>& metrics, const std::vector<std::string>& threads) {
    const CallTree tree = build_call_tree(database, select(database, metrics, threads), false);
    for (const Finding& finding : find(tree, run_summary(database)))
      if (finding.kind == "few-samples") return finding.values.at("samples");
    return 0.0;
  };
  CHECK(few({}, {}) == 0);
  CHECK(few({"REALTIME"}, {}) == 25);
  CHECK(few({"CPUTIME"}, {"0"}) == 0);
  CHECK(few({"CPUTIME"}, {"1"}) == 50);
}

TEST_CASE("code without line information is named by its module") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.function("inflate", "", "/usr/lib/libz.so.1");
  for (int i = 0; i < 8; ++i) b.spend(t, {{"main", 1}, {"f" + std::to_string(i), 2}}, 0.9);
  b.spend(t, {{"main", 1}, {"inflate"}}, 2.8);
  const Database database = b.build();
  const std::vector<Finding> findings = findings_of(database);
  CHECK(kinds(findings) == Kinds{"hot-path", "line-information"});
  CHECK(findings[0].sentence ==
        "28 % of the CPU time is in main (main.cpp:1) and the library code that it calls: 28 % in inflate "
        "(libz.so.1).");
  CHECK(findings[1].sentence ==
        "28 % of the CPU time is in code without line information, most of it in libz.so.1; build it with -g "
        "or install "
        "its debug symbols to see lines.");
}

TEST_CASE("an interpreter's own lines are not asked for") {
  const auto sentence = [](const std::string& module, const std::string& function_of_script) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    b.function("evaluate", "", module);
    b.spend(b.thread(0), {{"evaluate"}}, 4);
    if (!function_of_script.empty()) b.spend(b.thread(0), {{"evaluate"}, {function_of_script}}, 1);
    const Database database = b.build();
    for (const Finding& finding : findings_of(database)) {
      CHECK(
          (function_of_script.empty() ? finding.kind != "line-information" : finding.kind != "interpreter"));
      if (finding.kind == "interpreter") return finding.sentence;
    }
    return std::string();
  };
  CHECK(sentence("/usr/bin/python3.11", "") ==
        "100 % of the CPU time is in the interpreter python3.11; functions of the script are shown from "
        "Python 3.12 "
        "on, with -X perf (docs/interpreters.md).");
  CHECK(sentence("/usr/lib/libpython3.12.so.1.0", "") ==
        "100 % of the CPU time is in the interpreter libpython3.12.so.1.0; run it with -X perf to see the "
        "functions "
        "of the script (docs/interpreters.md).");
  CHECK(sentence("/usr/bin/python3.12", "py::solve:/home/a/solve.py").empty());
  CHECK(sentence("/usr/bin/perl", "") ==
        "100 % of the CPU time is in the interpreter perl; functions of the script are not shown "
        "(docs/interpreters.md).");
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
  CHECK(findings[0].kind == "locks-not-followed");
  CHECK(findings[0].sentence.starts_with("Java's monitors (synchronized)"));
}

TEST_CASE("what helps against missing lines depends on the module") {
  const auto advice = [](const std::string& function, const std::string& module) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    b.function(function, "", module);
    b.spend(b.thread(0), {{function}}, 1);
    const Database database = b.build();
    for (const Finding& finding : findings_of(database)) {
      if (finding.kind != "line-information") continue;
      CHECK(finding.sentence.find("most of it in " + module.substr(module.rfind('/') + 1)) !=
            std::string::npos);
      CHECK(finding.sentence.ends_with(finding.advice + "."));
      return finding.advice;
    }
    return std::string("no finding");
  };
  CHECK(advice("[jit]", "[jit]") == "let its compiler write a perf map (docs/interpreters.md) to see names");
  CHECK(advice("LMain;::work", "[jit]").empty());
  CHECK(advice("[app]", "/bin/app") ==
        "its file is gone, cannot be read, or is another than was measured: analyze before it changes");
  CHECK(advice("app+0x10", "/bin/app") == "build it with -g or install its debug symbols to see lines");
  CHECK(advice("[unknown]", "[unknown]").empty());
}

TEST_CASE("what helps with generated code depends on the runtime that makes it") {
  const auto advice = [](const std::string& runtime) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    b.function("[jit]", "", "[jit]");
    b.function("run", "", "/usr/lib/" + runtime);
    b.spend(b.thread(0), {{"run"}, {"[jit]"}}, 1);
    b.database.run_json =
        R"({"stacks": {"complete": 1, "partial": 9, "broken": 0, "reasons": {"generated_code": 9, "end_of_stack": 1}}})";
    const Database database = b.build();
    std::string all;
    for (const Finding& finding : findings_of(database))
      if (finding.kind == "stack-quality" || finding.kind == "line-information") all += finding.advice + "\n";
    return all;
  };
  CHECK(advice("jvm/server/libjvm.so") ==
        "run java with -XX:+PreserveFramePointer to see the callers (docs/interpreters.md)\n"
        "run java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit to see the names of methods\n");
  CHECK(advice("luajit-2.1.0-beta3") ==
        "luajit -joff, which compiles nothing, has whole stacks (docs/interpreters.md)\n"
        "let its compiler write a perf map (docs/interpreters.md) to see names\n");
  CHECK(advice("libother.so") ==
        "let it keep them, such as with java -XX:+PreserveFramePointer (docs/interpreters.md)\n"
        "let its compiler write a perf map (docs/interpreters.md) to see names\n");
}

TEST_CASE("a run without samples says how long it ran and what may help") {
  Database database;
  const auto sentence = [&](const char* json) {
    database.run_json = json;
    return findings_of(database).front().sentence;
  };
  CHECK(sentence("") == "No samples.");
  CHECK(sentence(R"({"run": {"wall_s": 0.003}, "sampling": {"requested_hz": 1000, "samples": 0}})") ==
        "No samples: 3 ms are too short for 1000 samples/s; run it longer, or on a larger input.");
  CHECK(sentence(
            R"({"run": {"wall_s": 5, "cpu_s": 0.0004}, "sampling": {"requested_hz": 1000, "samples": 0}})") ==
        "No samples: the program used 400 us of CPU time in 5.00 s; -e REALTIME measures waiting, too.");
  CHECK(sentence(R"({"run": {"wall_s": 5}})") == "No samples: the program ran for 5.00 s.");
}

TEST_CASE("a run.json in another form is no error") {
  for (const char* json :
       {"", "nonsense", "[1, 2]", R"({"run": 3, "sampling": [], "stacks": "good"})",
        R"({"run": {"wall_s": "long", "threads": -4}, "sampling": {"dropped": {"x": "y"}}})"}) {
    CAPTURE(json);
    Database database = flawless(json);
    CHECK(run_summary(database).threads == 1);
    CHECK(kinds(findings_of(database)).empty());
  }
}
