// Findings about code without lines or names.

#include <catch2/catch.hpp>

#include "tests/analysis/database/run_text.h"
#include "tests/analysis/findings/found.h"

using namespace prof;
using namespace prof::test;

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
      CHECK((function_of_script.empty() ? finding.kind != FindingKind::LineInformation
                                        : finding.kind != FindingKind::Interpreter));
      if (finding.kind == FindingKind::Interpreter) return finding.sentence;
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

TEST_CASE("what helps against missing lines depends on the module") {
  const auto advice = [](const std::string& function, const std::string& module) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    b.function(function, "", module);
    b.spend(b.thread(0), {{function}}, 1);
    const Database database = b.build();
    for (const Finding& finding : findings_of(database)) {
      if (finding.kind != FindingKind::LineInformation) continue;
      CHECK(finding.sentence.find("most of it in " + module.substr(module.rfind('/') + 1)) !=
            std::string::npos);
      CHECK(finding.sentence.ends_with(finding.advice + "."));
      return finding.advice;
    }
    return std::string("no finding");
  };
  CHECK(advice("[jit]", "[jit]") == "have its compiler write a perf map (docs/interpreters.md) to see names");
  CHECK(advice("LMain;::work", "[jit]").empty());
  CHECK(advice("[app]", "/bin/app") ==
        "its file is missing, unreadable, or not the one that was measured: analyze before it changes");
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
    set_run_text(
        b.database,
        R"({"stacks": {"complete": 1, "partial": 9, "broken": 0, "reasons": {"generated_code": 9, "end_of_stack": 1}}})");
    const Database database = b.build();
    std::string all;
    for (const Finding& finding : findings_of(database))
      if (finding.kind == FindingKind::StackQuality || finding.kind == FindingKind::LineInformation)
        all += finding.advice + "\n";
    return all;
  };
  CHECK(advice("jvm/server/libjvm.so") ==
        "run java with -XX:+PreserveFramePointer to see the callers (docs/interpreters.md)\n"
        "run java with -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit to see the names of methods\n");
  CHECK(advice("luajit-2.1.0-beta3") ==
        "use luajit -joff, which does not compile, to get whole stacks (docs/interpreters.md)\nhave its "
        "compiler write a perf map (docs/interpreters.md) to see names\n");
  CHECK(advice("libother.so") ==
        "have it keep them, such as with java -XX:+PreserveFramePointer (docs/interpreters.md)\nhave its "
        "compiler write a perf map (docs/interpreters.md) to see names\n");
}
