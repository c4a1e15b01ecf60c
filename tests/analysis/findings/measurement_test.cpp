// Findings about the measurement itself.

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/format_run.h"
#include "analysis/views/run/overhead.h"
#include "analysis/views/run/run_summary.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/findings/found.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("incomplete stacks are explained by their most frequent reason") {
  CHECK(only_sentence(R"({"stacks": {"complete": 88, "partial": 0, "broken": 12,
                          "reasons": {"end of stack": 88, "bad return address": 10, "no progress": 2}}})") ==
        "12 % of samples have broken stacks, mostly because a return address points to no code; check for "
        "hand-written assembly without unwind information.");
  CHECK(only_sentence(
            R"({"stacks": {"complete": 90, "partial": 10, "broken": 0, "reasons": {"TooDeep": 10}}})") ==
        "10 % of samples have partial stacks, mostly because they are deeper than 8192 frames; check for "
        "unbounded recursion.");
  CHECK(only_sentence(
            R"({"stacks": {"complete": 94, "partial": 3, "broken": 3, "reasons": {"cosmic rays": 6}}})") ==
        "6.0 % of samples have partial or broken stacks, mostly because cosmic rays.");
  CHECK(only_sentence(R"({"stacks": {"complete": 995, "partial": 5, "broken": 0}})").empty());
}

TEST_CASE("a rate is found wanting below nine tenths of what was requested") {
  CHECK(only_sentence(R"({"sampling": {"requested_hz": 1000, "delivered_hz": 640, "samples": 9000}})") ==
        "Delivered 640 of 1000 samples/s: shares remain correct because samples are weighted by "
        "elapsed time, but detail is coarser than requested.");
  CHECK(
      only_sentence(R"({"sampling": {"requested_hz": 1000, "delivered_hz": 900, "samples": 9000}})").empty());
}

TEST_CASE("dropped samples, overhead and too few samples are found") {
  CHECK(only_sentence(R"({"sampling": {"samples": 900, "dropped": {"DroppedFileFull": 100}}})") ==
        "10 % of samples were dropped, mostly because the measurement file could not grow; free disk space, "
        "or write elsewhere with -o DIR.");
  // Merged samples lose no time.
  CHECK(only_sentence(R"({"sampling": {"samples": 900, "dropped": {"overrun": 800}}})").empty());
  CHECK(only_sentence(R"({"run": {"cpu_s": 10}, "overhead": {"cpu_s_estimate": 0.8}})") ==
        "Measuring took about 8.0 % of the CPU time: take fewer samples per second.");
  CHECK(only_sentence(R"({"run": {"cpu_s": 10}, "overhead": {"cpu_s_estimate": 0.4}})").empty());
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 10}, "sampling": {"samples": 9000}, "overhead": {"cpu_s_estimate": 0.8}})") ==
      "Measuring took about 8.0 % of the CPU time, most of it to read the unwind tables of its libraries: "
      "measure a longer run, because this is done once.");
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 10}, "sampling": {"samples": 90000}, "overhead": {"cpu_s_estimate": 0.8}})") ==
      "Measuring took about 8.0 % of the CPU time: take fewer samples per second.");
  static constexpr const char of_parts[] =
      R"({{"run": {{"cpu_s": 10}}, "sampling": {{"samples": 9000}}, "overhead": {{"cpu_s_estimate": 0.8, "start_s": {}}}}})";
  CHECK(
      only_sentence(fmt::format(of_parts, 0.1)) ==
      "Measuring took about 8.0 % of the CPU time, most of it in samples: take fewer samples per second.");
  CHECK(only_sentence(fmt::format(of_parts, 0.7)) ==
        "Measuring took about 8.0 % of the CPU time, most of it to read the unwind tables of its libraries: "
        "measure a longer run, because this is done once.");
  RunSummary run;
  run.overhead_cpu_s = 5;
  CHECK(largest_part(run) == OverheadPart::None);
  run.overhead_start_s = 0.1;
  run.overhead_hooks_s = 4;
  CHECK(largest_part(run) == OverheadPart::Hooks);
  CHECK(format_overhead(run) == "about 5.00 s of CPU time, 4.00 s of it in intercepted calls");
  // If there is almost no CPU time, the overhead says little: most of it is start and end. A program that
  // waits cannot gain anything.
  CHECK(only_sentence(R"({"run": {"cpu_s": 0.003}, "overhead": {"cpu_s_estimate": 0.002}})").empty());
  CHECK(only_sentence(R"({"run": {"wall_s": 100, "cpu_s": 0.3}, "overhead": {"cpu_s_estimate": 0.2}})")
            .empty());
  CHECK(
      only_sentence(
          R"({"run": {"cpu_s": 0.03}, "sampling": {"samples": 25}, "overhead": {"cpu_s_estimate": 0.01}})") ==
      "Only 25 samples: shares are uncertain by up to 10 points; run it longer, or take more samples "
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
  set_run_text(b.database, R"({"sampling": {"samples": 1025, "metrics":
      {"CPUTIME": {"samples": 1000}, "REALTIME": {"samples": 25}}}})");
  const Database database = b.build();
  const auto few = [&](const std::vector<std::string>& metrics, const std::vector<std::string>& threads) {
    const CallTree tree = build_call_tree(database, select(database, metrics, threads), false);
    for (const Finding& finding : all_findings(tree, run_summary(database), nullptr))
      if (finding.kind == FindingKind::FewSamples) return finding.values.at("samples");
    return 0.0;
  };
  CHECK(few({}, {}) == 0);
  CHECK(few({"REALTIME"}, {}) == 25);
  CHECK(few({"CPUTIME"}, {"0"}) == 0);
  CHECK(few({"CPUTIME"}, {"1"}) == 50);
}

TEST_CASE("a run without samples says how long it ran and what may help") {
  Database database;
  const auto sentence = [&](const char* json) {
    set_run_text(database, json);
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
