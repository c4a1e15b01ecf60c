#pragma once
// The run that golden files and docs/json.md show: two threads compute sums, one of them slowly.

#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"

namespace prof::test {

inline const char* const kExampleRun = R"json({
  "run": {"command": "./sum 1000000", "host": "build1", "start": "2024-05-02T10:00:00Z", "wall_s": 4.02,
          "cpu_s": 8.0, "exit_status": 0, "processes": 1, "threads": 2, "ranks": 0},
  "sampling": {"source": "perf cpu-clock (sigtrap, user+kernel)", "requested_hz": 1000, "delivered_hz": 640,
               "samples": 5120, "dropped": {"overrun": 80},
               "metrics": {"CPUTIME": {"source": "perf cpu-clock (sigtrap, user+kernel)", "requested_hz": 1000,
                                       "delivered_hz": 640, "samples": 5120}}},
  "stacks": {"complete": 4506, "partial": 0, "broken": 614,
             "reasons": {"end_of_stack": 4506, "bad_return_address": 614}},
  "overhead": {"cpu_s_estimate": 0.08, "runtime_bytes": 2202009},
  "degradations": ["kernel time is not sampled"]
})json";

inline Database example() {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/sum", 30);
  b.function("slow_sum", "sum.cpp", "/home/me/sum", 10);
  b.function("fast_sum", "sum.cpp", "/home/me/sum", 20);
  b.function("add", "sum.cpp", "/home/me/sum", 3);
  b.function("worker", "main.cpp", "/home/me/sum", 21);
  b.function("write", "", "/lib/libc.so.6");
  b.database.modules[0].build_id = "5a1f0c9be2d4";
  b.metric("CPUTIME", "sec");
  const uint32_t main = b.thread(0, "sum"), worker = b.thread(1, "worker");
  b.spend(main, {{"main", 40}, {"slow_sum", 14}}, 4.96);
  b.spend(main, {{"main", 41}, {"fast_sum", 22}, {"add", 4, true}}, 0.75);
  b.spend(main, {{"main", 41}, {"fast_sum", 23}}, 0.25);
  b.spend(main, {{"main", 44}, {"write"}}, 0.04);
  b.spend(worker, {{"worker", 25}, {"fast_sum", 22}, {"add", 4, true}}, 2.0, 0, "application thread");
  set_run_text(b.database, kExampleRun);
  return b.build();
}

}  // namespace prof::test
