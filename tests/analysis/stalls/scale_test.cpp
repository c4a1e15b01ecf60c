// Measures time and memory for long traces. Run by hand: test_stalls '[.scale]'

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "analysis/stalls/stalls.h"
#include "tests/analysis/stalls/traced_run.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kTurn = 1000;  // records between two barriers, which take the last tenth of them

// Generates records as they are read, for a thread that is blocked once in a hundred turns.
class MadeTrace {
 public:
  MadeTrace(uint64_t thread, uint64_t records) : thread_(thread), records_(records) {}

  bool operator()(std::vector<TraceRecord>& block) {
    block.clear();
    for (; next_ < records_ && block.size() < 65536; ++next_) {
      const uint64_t turn = next_ / kTurn, in_turn = next_ % kTurn;
      const bool is_late = turn % 100 == thread_ && in_turn > kTurn - 90;
      if (is_late && in_turn > kTurn - 89) continue;
      block.push_back({next_ * kPeriodNs, is_late ? kBlocked : in_turn > kTurn - 100 ? kBarrier : kCompute});
    }
    if (!block.empty()) return true;
    next_ = 0;
    return false;
  }

 private:
  uint64_t thread_, records_, next_ = 0;
};

}  // namespace

TEST_CASE("100 traces of a million records each", "[.scale]") {
  constexpr uint64_t kRecords = 1'000'000, kThreads = 100;
  TracedRun run;
  for (uint32_t thread = 0; thread < kThreads; ++thread) run.thread(static_cast<int32_t>(thread));
  Database database = run.build();
  database.traces.clear();
  for (uint64_t thread = 0; thread < kThreads; ++thread)
    database.traces.emplace_back(MadeTrace(thread, kRecords));

  const auto start = std::chrono::steady_clock::now();
  const StallAnalysis found = find_stalls(database, run.everyone(), {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(found.stalls.size() == kRecords / kTurn - 1);  // in the last turn no record ends the interval
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << kThreads * kRecords << " records: " << took.count() << " s, " << usage.ru_maxrss / 1024
            << " MiB at most, " << found.stalls.size() << " stalls\n";
}
