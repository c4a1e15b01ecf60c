#pragma once
// A run whose ranks wait in a barrier for one that is blocked.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"

namespace prof::test {

inline constexpr uint64_t kMs = 1'000'000;
inline constexpr uint64_t kStart = 1'700'000'000'000 * kMs;

inline uint32_t context_of(const Database& database, const std::string& function) {
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (database.contexts[c].function != kNone &&
        database.functions[database.contexts[c].function].name == function)
      return c;
  return kNone;
}

// Returns twelve ranks that compute for 1 s, wait in a barrier for 1 s and compute for 2 s. Rank 3 reads for
// the first 800 ms of the barrier.
inline Database stalled_ranks(const std::string& first_metric = "REALTIME") {
  DatabaseBuilder b;
  b.function("main", "main.cpp", "/home/me/team", 30);
  b.function("load", "load.cpp", "/home/me/team", 10);
  b.function("__GI___read", "", "/lib/libc.so.6");
  b.function("MPI_Barrier", "", "/lib/libmpi.so");
  b.metric(first_metric, "sec");
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = b.thread(0, "team", rank);
    b.spend(thread, {{"main", 40}}, 3);
    b.spend(thread, {{"main", 42}, {"MPI_Barrier"}}, 1);
    if (rank == 3) b.spend(thread, {{"main", 41}, {"load", 14}, {"__GI___read"}}, 0.8);
  }
  Database database = b.build();
  const uint32_t compute = context_of(database, "main"), barrier = context_of(database, "MPI_Barrier"),
                 read = context_of(database, "__GI___read");
  for (int32_t rank = 0; rank < 12; ++rank) {
    auto records = std::make_shared<std::vector<TraceRecord>>();
    for (uint64_t ms = 0; ms < 4000; ms += 5) {
      const bool blocked = rank == 3 && ms >= 1000 && ms < 1800;
      if (blocked && ms > 1000) continue;
      records->push_back({kStart + ms * kMs, blocked ? read : ms < 1000 || ms >= 2000 ? compute : barrier});
    }
    records->push_back({kStart + 4000 * kMs, kNone});
    database.traces.emplace_back([records, given = false](std::vector<TraceRecord>& block) mutable {
      given = !given;
      block = given ? *records : std::vector<TraceRecord>{};
      return given;
    });
  }
  set_run_text(database,
               R"({"run": {"command": "./team"}, "sampling": {"samples": 9000, "metrics": {"REALTIME":
      {"source": "POSIX monotonic timer", "requested_hz": 200, "delivered_hz": 199, "samples": 9000}}}})");
  return database;
}

}  // namespace prof::test
