#include <catch2/catch.hpp>

#include "analysis/words/numbers.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

void check_fits_screen(const std::string& text) {
  const std::vector<std::string> lines = lines_of(text);
  CHECK(lines.size() <= 24);
  for (const std::string& line : lines) CHECK(columns_of(line) <= 100);
  CHECK_THAT(text, !Catch::Contains("nan") && !Catch::Contains("inf ") && !Catch::Contains("inf%"));
}

// A database with everything that takes space in a summary: long names, a deep path, every finding.
Database crowded() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  std::vector<At> path;
  for (uint32_t i = 0; i < 60; ++i) {
    const std::string name =
        "std::vector<std::pair<" + std::string(150, 'x') + ">>::level" + std::to_string(i);
    b.function(name, "deep.cpp", "/usr/bin/app");
    path.push_back({name, 100 + i});
  }
  b.function("strip", "", "/usr/lib/libstripped.so.3");
  b.spend(t, path, 4);
  path.push_back({"strip"});
  b.spend(t, path, 3);
  for (int i = 0; i < 9; ++i) {
    path.back() = {"callee" + std::to_string(i), 5};
    b.spend(t, path, 0.3);
  }
  set_run_text(b.database,
               R"({
    "run": {"command": ")" +
                   std::string(300, 'a') +
                   R"(", "host": "h", "wall_s": 11, "cpu_s": 9.7, "exit_status": 139,
            "processes": 3, "threads": 17, "ranks": 2},
    "sampling": {"source": "POSIX per-thread CPU timer", "requested_hz": 1000, "delivered_hz": 5, "samples": 48,
                 "dropped": {"overrun": 9000, "file full": 12, "nested": 1}},
    "stacks": {"complete": 10, "partial": 20, "broken": 18, "reasons": {"no unwind info": 20, "no progress": 18}},
    "overhead": {"cpu_s_estimate": 4, "runtime_bytes": 5e6},
    "degradations": ["System time is sampled at 250 Hz at most, because perf_event_paranoid is 2 and this user )"
                   R"(may not sample the kernel; to get the full rate `sysctl kernel.perf_event_paranoid=1`",
                     ")" +
                   std::string(200, 'd') + R"(", "three", "four"]})");
  return b.build();
}

}  // namespace

TEST_CASE("the golden summary is what is printed") {
  const std::string text = rendered(example(), {}).text;
  CHECK(text == golden("summary.txt"));
  check_fits_screen(text);
}

TEST_CASE("the summary fits one screen however much there is to say") {
  const std::string text = rendered(crowded(), {}).text;
  check_fits_screen(text);
  CHECK(lines_of(text).size() >= 20);
  CHECK(text.find(", exit status 139") != std::string::npos);
  CHECK(text.find("more: --format=json") != std::string::npos);
  CHECK(text.find("frames more") != std::string::npos);
  CHECK(text.find("note      System time is sampled at 250 Hz at most") != std::string::npos);
  CHECK(text.find("rate `sysctl kernel.perf_event_paranoid=1`\nnote      ddd") != std::string::npos);
  CHECK(text.find("deep.cpp:159") != std::string::npos);
}

TEST_CASE("the program's own code leads: start code and libraries are left out between its functions") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  for (const char* name : {"clone3", "start_thread", "memcpy"}) b.function(name, "", "/usr/lib/libc.so.6");
  b.function("std::string::append", "", "/usr/lib/libstdc++.so.6");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"clone3"}, {"start_thread"}, {"serve", 12}, {"read", 65}, {"std::string::append"}, {"memcpy"}}, 6);
  b.spend(t, {{"clone3"}, {"start_thread"}, {"serve", 12}, {"book", 91}}, 3);
  const Database database = b.build();
  const std::string text = rendered(database, {}).text;
  CHECK(text.find("start_thread") == std::string::npos);
  CHECK(text.find("\n 100.0 %  serve  serve.cpp:12\n  66.7 %    read  read.cpp:65\n  66.7 %      memcpy") !=
        std::string::npos);
  CHECK(text.find("lines of the program, with the library code they call\n  66.7 %  read  read.cpp:65 -> "
                  "std::string::append (67 %)\n  33.3 %  book  book.cpp:91\n") != std::string::npos);
  CHECK(text.find("  66.7 %  memcpy  libc.so.6 <- read (read.cpp:65) <- serve (serve.cpp:12)\n") !=
        std::string::npos);
}

TEST_CASE("calls of a function by itself are one row of the hottest path") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  std::vector<At> path{{"main", 3}};
  path.insert(path.end(), 5000, {"fall", 7});
  path.push_back({"land", 9});
  b.spend(b.thread(0), path, 1);
  const std::string text = rendered(b.build(), {}).text;
  check_fits_screen(text);
  CHECK(text.find("fall  fall.cpp:7, 5000 times in a row\n") != std::string::npos);
  CHECK(text.find("frames more") == std::string::npos);
}

TEST_CASE("an empty database says that there are no samples") {
  Database database;
  check_fits_screen(rendered(database, {}).text);
  set_run_text(
      database,
      R"({"run": {"command": "./true", "wall_s": 0.003, "exit_status": 0, "processes": 1, "threads": 1},
                          "sampling": {"requested_hz": 1000, "delivered_hz": 0, "samples": 0}})");
  const std::string text = rendered(database, {}).text;
  check_fits_screen(text);
  CHECK(text == golden("empty.txt"));
}

TEST_CASE("a database without a record of its run shows what its values say") {
  Database database = example();
  database.run.reset();
  const std::string text = rendered(database, {}).text;
  CHECK(text == golden("foreign.txt"));
  check_fits_screen(text);
}

TEST_CASE("the header is about the metric and the threads that are shown, and names what was selected") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.metric("REALTIME", "sec");
  const uint32_t main = b.thread(0, "app"), worker = b.thread(1, "worker");
  b.spend(main, {{"f", 1}}, 1, 0);
  b.spend(main, {{"f", 1}}, 3, 1);
  b.spend(worker, {{"f", 1}}, 1, 1);
  set_run_text(b.database,
               R"({"sampling": {"source": "perf", "requested_hz": 1000, "delivered_hz": 990, "samples": 1790,
      "metrics": {"CPUTIME": {"source": "perf", "requested_hz": 1000, "delivered_hz": 990, "samples": 990},
                  "REALTIME": {"source": "a timer", "requested_hz": 200, "delivered_hz": 200, "samples": 800}}}})");
  const Database database = b.build();
  const std::string whole = rendered(database, {}).text;
  CHECK(whole.find("\nsampled   CPUTIME: 990 of 1000 samples/s, 990 samples, by perf\n") !=
        std::string::npos);
  CHECK(whole.find("selected") == std::string::npos);
  ReportOptions options;
  options.metrics = {"REALTIME"};
  options.threads = {"1"};
  const std::string part = rendered(database, options).text;
  CHECK(part.find("\nselected  REALTIME, 1 of 2 threads: 100.1 worker\n"
                  "sampled   REALTIME: 200 of 200 samples/s, 200 samples, by a timer\n") !=
        std::string::npos);
  check_fits_screen(part);
}

TEST_CASE("colour is used only on request") {
  CHECK(rendered(example(), {}, false).text.find('\033') == std::string::npos);
  CHECK(rendered(example(), {}, true).text.find("\033[31m  62.0 %\033[0m") != std::string::npos);
}
