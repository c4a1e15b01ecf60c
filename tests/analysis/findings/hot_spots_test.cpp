// Findings about where the cost is.

#include <catch2/catch.hpp>

#include "tests/analysis/findings/found.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("the hottest function is named with its line, its share and where it is reached from") {
  const Database database = example();
  const Finding finding = findings_of(database).front();
  CHECK(finding.kind == FindingKind::HotPath);
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
  b.function("[prof]", "", "/opt/prof/lib/libprof-runtime.so");
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
  CHECK(findings[0].kind == FindingKind::HotPath);
  CHECK(findings[0].sentence ==
        "50 % of the CPU time is in read (read.cpp:65) and the library code that it calls: 50 % in "
        "std::operator+.");
  REQUIRE(findings[0].contexts[0].frames.size() == 2);
  CHECK(findings[0].contexts[0].frames[1].function == "main");
  for (const Finding& finding : findings) CHECK_FALSE(finding.sentence.find("memcpy") != std::string::npos);
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
