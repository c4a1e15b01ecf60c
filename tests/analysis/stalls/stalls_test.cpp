#include "analysis/stalls/stalls.h"

#include <catch2/catch.hpp>
#include <utility>

#include "tests/analysis/stalls/traced_run.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kSecond = 1000 * kMs;

// All ranks compute until 1 s, are in a barrier until 2 s, and compute until 3 s. Rank 3 blocks from 1 s to
// 1.8 s, and reaches the barrier then.
TracedRun late_rank(int32_t ranks) {
  TracedRun run;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    run.sampled(thread, kBarrier, 2 * kSecond);
    run.sampled(thread, kCompute, 3 * kSecond);
  }
  return run;
}

StallAnalysis stalls_of(const TracedRun& run, const StallOptions& options = {}) {
  return find_stalls(run.build(), run.everyone(), options);
}

}  // namespace

TEST_CASE("One blocked rank of 12 that all others wait for is a stall of just that length") {
  for (const int32_t ranks : {12, 100}) {
    const StallAnalysis found = stalls_of(late_rank(ranks));
    CHECK(found.traces == static_cast<uint32_t>(ranks));
    CHECK(found.duration_ns() == 3 * kSecond);
    CHECK(found.long_intervals == 1);
    CHECK(found.longest_ns == 800 * kMs);
    CHECK(found.lost_ns == 800 * kMs);
    REQUIRE(found.stalls.size() == 1);
    const Stall& stall = found.stalls[0];
    CHECK(stall.begin_ns == kSecond);
    CHECK(stall.end_ns == 1800 * kMs);
    CHECK(stall.lost_ns == 800 * kMs);
    CHECK(stall.waiting == kBarrier);
    REQUIRE(stall.threads.size() == 1);
    CHECK(stall.threads[0].profile == 3);
    CHECK(stall.threads[0].context == kBlocked);
    CHECK(stall.threads[0].lost_ns == 800 * kMs);
  }
}

TEST_CASE("Looking for stalls can be given up at any block") {
  const TracedRun run = late_rank(12);
  const Database database = run.build();
  size_t asked = 0;
  StallOptions options;
  options.is_cancelled = [&asked] { return ++asked == 0; };
  CHECK(find_stalls(database, run.everyone(), options).lost_ns == 800 * kMs);
  const size_t all = asked;
  for (const size_t last : {size_t{1}, all / 2, all}) {
    asked = 0;
    options.is_cancelled = [&asked, last] { return ++asked == last; };
    CHECK_THROWS_AS(find_stalls(database, run.everyone(), options), StallsCancelled);
    CHECK(asked == last);
  }
}

TEST_CASE("How traces are cut into blocks does not matter") {
  const TracedRun run = late_rank(12);
  for (const size_t block : {1, 2, 1000})
    CHECK(find_stalls(run.build(block), run.everyone(), {}).lost_ns == 800 * kMs);
}

TEST_CASE("Only the time counts at which all others have come to the barrier") {
  TracedRun run;
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    if (rank == 5) run.sampled(thread, kCompute, 1300 * kMs);  // the last to arrive, and the first to leave
    run.sampled(thread, kBarrier, rank == 5 ? 1700 * kMs : 2 * kSecond);
    run.sampled(thread, kCompute, 3 * kSecond);
  }
  const StallAnalysis found = stalls_of(run);
  CHECK(found.lost_ns == 400 * kMs);
  REQUIRE(found.stalls.size() == 1);
  CHECK(found.stalls[0].end_ns - found.stalls[0].begin_ns == 800 * kMs);
}

TEST_CASE("Without a barrier in the others' contexts there is no stall") {
  TracedRun run;
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    // One of them is not in the barrier.
    run.sampled(thread, rank == 7 ? kCompute : kBarrier, 2 * kSecond);
    run.sampled(thread, kCompute, 3 * kSecond);
  }
  const StallAnalysis found = stalls_of(run);
  CHECK(found.lost_ns == 0);
  CHECK(found.stalls.empty());
  CHECK(found.long_intervals == 1);
}

TEST_CASE("A barrier that the option names counts, and what it calls") {
  TracedRun run = late_rank(12);
  run.database.functions[kBarrier - 1].name = "wait_for_all(int)";
  CHECK(stalls_of(run).lost_ns == 0);
  StallOptions options;
  options.barriers = {"wait_for_*"};
  CHECK(stalls_of(run, options).lost_ns == 800 * kMs);
}

TEST_CASE("Fewer than the share of traces is sparse, the share itself is not") {
  const auto lost = [](int32_t ranks, int32_t blocked, double share) {
    TracedRun run;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      const uint32_t thread = run.thread(rank);
      run.sampled(thread, kCompute, kSecond);
      if (rank < blocked) run.silent(thread, kBlocked, 1800 * kMs);
      run.sampled(thread, kBarrier, 2 * kSecond);
    }
    StallOptions options;
    options.share = share;
    return stalls_of(run, options).lost_ns;
  };
  CHECK(lost(10, 1, 0.10) == 0);
  CHECK(lost(11, 1, 0.10) == 800 * kMs);
  CHECK(lost(12, 2, 0.10) == 0);
  CHECK(lost(12, 2, 0.20) == 800 * kMs);
  CHECK(lost(30, 3, 0.10) == 0);  // 0.1 * 30 is more than 3 in binary
  CHECK(lost(100, 9, 0.10) == 800 * kMs);
  CHECK(lost(100, 10, 0.10) == 0);
  CHECK(lost(4, 1, 0.25) == 0);
  CHECK(lost(4, 1, 0.26) == 800 * kMs);
  CHECK(lost(2, 2, 1.00) == 0);  // no thread is left to wait
}

TEST_CASE("Long is more than the factor times the median, not as much") {
  const auto lost = [](uint64_t blocked_ns, double factor, uint64_t period = 0) {
    TracedRun run;
    for (int32_t rank = 0; rank < 12; ++rank) {
      const uint32_t thread = run.thread(rank);
      run.sampled(thread, kCompute, kSecond);
      if (rank == 3) run.silent(thread, kBlocked, kSecond + blocked_ns);
      run.sampled(thread, kBarrier, kSecond + 2 * blocked_ns);
    }
    StallOptions options;
    options.factor = factor;
    options.period_ns = period;
    return stalls_of(run, options).lost_ns;
  };
  CHECK(lost(10 * kPeriodNs, 10) == 0);
  CHECK(lost(10 * kPeriodNs + 1, 10) == 10 * kPeriodNs + 1);
  CHECK(lost(4 * kPeriodNs, 3.9) == 4 * kPeriodNs);
  CHECK(lost(4 * kPeriodNs, 4) == 0);
  // If the clock's period is longer than the median, it is the limit.
  CHECK(lost(19 * kPeriodNs, 10, 2 * kPeriodNs) == 0);
  CHECK(lost(21 * kPeriodNs, 10, 2 * kPeriodNs) == 21 * kPeriodNs);
}

TEST_CASE("Each trace has its own median") {
  const auto lost = [](uint64_t period_of_rank_3) {
    TracedRun run;
    for (int32_t rank = 0; rank < 12; ++rank) {
      const uint32_t thread = run.thread(rank);
      if (rank == 3)
        for (uint64_t at = 0; at < kSecond; at += period_of_rank_3)
          run.silent(thread, kCompute, at + period_of_rank_3);
      run.sampled(thread, kCompute, kSecond);
      if (rank == 3) run.silent(thread, kBlocked, 1200 * kMs);
      run.sampled(thread, kBarrier, 1225 * kMs);
    }
    return stalls_of(run).lost_ns;
  };
  CHECK(lost(kPeriodNs) == 200 * kMs);
  CHECK(lost(10 * kPeriodNs) == 0);  // 200 ms are four of its intervals
}

TEST_CASE("Stalls that overlap are one, from the earliest start to the latest end") {
  TracedRun run;
  for (int32_t rank = 0; rank < 100; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.silent(thread, kBlocked, 1500 * kMs);
    if (rank == 4 || rank == 5) {
      run.sampled(thread, kBarrier, rank == 4 ? 1200 * kMs : 2500 * kMs);
      run.silent(thread, kBlocked, rank == 4 ? 1900 * kMs : 2600 * kMs);
    }
    run.sampled(thread, kBarrier, 3 * kSecond);
    run.sampled(thread, kCompute, 10 * kSecond);
  }
  const StallAnalysis found = stalls_of(run);
  REQUIRE(found.stalls.size() == 2);
  CHECK(found.stalls[0].begin_ns == kSecond);
  CHECK(found.stalls[0].end_ns == 1900 * kMs);
  CHECK(found.stalls[0].lost_ns == 900 * kMs);
  REQUIRE(found.stalls[0].threads.size() == 2);
  CHECK(found.stalls[0].threads[0].profile == 4);  // 700 ms
  CHECK(found.stalls[0].threads[1].profile == 3);  // 500 ms
  CHECK(found.stalls[1].lost_ns == 100 * kMs);
  CHECK(found.lost_ns == kSecond);
  CHECK(static_cast<double>(found.lost_ns) / static_cast<double>(found.duration_ns()) == 0.1);
}

TEST_CASE("Traces count while they exist") {
  // Ten of 20 threads have ended when rank 3 blocks: one of the ten other threads is no longer sparse.
  TracedRun run;
  for (int32_t rank = 0; rank < 20; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank >= 10) continue;
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    run.sampled(thread, kBarrier, 2 * kSecond);
  }
  CHECK(stalls_of(run).lost_ns == 0);
  StallOptions options;
  options.share = 0.11;
  CHECK(stalls_of(run, options).lost_ns == 800 * kMs);
}

TEST_CASE("A wait in a barrier that gives no samples is a wait like any other") {
  // The barrier polls: all wait silently, rank 3 is late.
  TracedRun run;
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    run.silent(thread, kInBarrier, rank == 3 ? 1810 * kMs : 2 * kSecond);
    run.sampled(thread, kCompute, 3 * kSecond);
  }
  const StallAnalysis found = stalls_of(run);
  CHECK(found.lost_ns == 800 * kMs);
  CHECK(found.long_intervals == 1);
  REQUIRE(found.stalls.size() == 1);
  CHECK(found.stalls[0].threads.size() == 1);
  CHECK(found.stalls[0].waiting == kInBarrier);
  CHECK(found.stalls[0].barrier == kBarrier);
}

TEST_CASE("The barrier is known from samples of later in the stall, too") {
  // Ranks 0 to 2, which are compared, have a short gap when the last of the other ranks reaches the barrier.
  TracedRun run;
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, rank < 3 ? kSecond - 2 * kPeriodNs : kSecond);
    if (rank < 3) {
      run.sampled(thread, kBarrier, kSecond - kPeriodNs);
      run.gap(thread, kSecond + kPeriodNs);
    }
    if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
    run.sampled(thread, kBarrier, 2 * kSecond);
    run.sampled(thread, kCompute, 3 * kSecond);
  }
  const StallAnalysis found = stalls_of(run);
  REQUIRE(found.stalls.size() == 1);
  CHECK(found.lost_ns == 800 * kMs);
  CHECK(found.stalls[0].waiting == kBarrier);
}

TEST_CASE("A thread that is not woken in a barrier stalls the next one") {
  const auto lost = [](uint64_t asleep_until) {
    TracedRun run;
    for (int32_t rank = 0; rank < 12; ++rank) {
      const uint32_t thread = run.thread(rank);
      run.sampled(thread, kCompute, kSecond);
      if (rank == 3) {
        run.silent(thread, kInBarrier, asleep_until);
      } else {
        run.sampled(thread, kBarrier, 1100 * kMs);
        run.sampled(thread, kCompute, 1300 * kMs);
        run.sampled(thread, kBarrier, asleep_until);
      }
      run.sampled(thread, kCompute, 3 * kSecond);
    }
    return stalls_of(run).lost_ns;
  };
  // All are in a barrier from 1.0 to 1.1 s, and from 1.3 s on.
  CHECK(lost(2 * kSecond) == 800 * kMs);
  // 40 ms are less than a long interval: a barrier and the time between samples take that long anyway. The
  // 100 ms before are more.
  CHECK(lost(1340 * kMs) == 100 * kMs);
}

TEST_CASE("Gaps are not stalls: of a trace with a gap nothing is known") {
  TracedRun run;
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank);
    run.sampled(thread, kCompute, kSecond);
    if (rank == 3) run.gap(thread, 1800 * kMs);  // lost, paused or without a processor
    run.sampled(thread, kBarrier, 2 * kSecond);
  }
  StallAnalysis found = stalls_of(run);
  CHECK(found.lost_ns == 0);
  CHECK(found.long_intervals == 0);
  CHECK(found.unknown_ns == 0);

  TracedRun other = late_rank(12);
  std::erase_if(other.traces[6], [](const TraceRecord& record) {
    return record.time_ns > 1200 * kMs && record.time_ns < 1400 * kMs;
  });
  for (TraceRecord& record : other.traces[6])
    if (record.time_ns == 1200 * kMs) record.context = kNone;
  found = stalls_of(other);
  CHECK(found.lost_ns == 600 * kMs);
  CHECK(found.unknown_ns == 200 * kMs);
}

TEST_CASE("A short gap between two samples in a barrier was spent there") {
  const auto found = [](uint64_t gap_ns, uint32_t before, uint32_t after) {
    TracedRun run;
    for (int32_t rank = 0; rank < 12; ++rank) {
      const uint32_t thread = run.thread(rank);
      run.sampled(thread, kCompute, kSecond);
      if (rank == 3) run.silent(thread, kBlocked, 1800 * kMs);
      if (rank == 6) {
        run.sampled(thread, kBarrier, 1200 * kMs - kPeriodNs);
        run.sampled(thread, before, 1200 * kMs);
        run.gap(thread, 1200 * kMs + gap_ns);
        run.sampled(thread, after, 1200 * kMs + gap_ns + kPeriodNs);
      }
      run.sampled(thread, kBarrier, 2 * kSecond);
    }
    return stalls_of(run);
  };
  CHECK(found(10 * kPeriodNs, kBarrier, kInBarrier).lost_ns == 800 * kMs);
  CHECK(found(10 * kPeriodNs, kBarrier, kInBarrier).unknown_ns == 0);
  // Long enough for more than one wait.
  CHECK(found(10 * kPeriodNs + 1, kBarrier, kBarrier).unknown_ns == 10 * kPeriodNs + 1);
  // On the way to the barrier, or from it.
  CHECK(found(kPeriodNs, kBarrier, kCompute).unknown_ns == kPeriodNs);
  CHECK(found(kPeriodNs, kBarrier, kCompute).lost_ns == 790 * kMs);
  CHECK(found(kPeriodNs, kCompute, kBarrier).unknown_ns == kPeriodNs);
  CHECK(found(kPeriodNs, kBarrier, kNone).unknown_ns == 2 * kPeriodNs);
}

TEST_CASE("A call that samples interrupt and that goes on blocks all the time") {
  const auto found = [](uint64_t between, uint32_t middle) {
    TracedRun run;
    for (int32_t rank = 0; rank < 12; ++rank) {
      const uint32_t thread = run.thread(rank);
      run.sampled(thread, kCompute, kSecond);
      if (rank == 3) {
        run.sampled(thread, kCondition, 1400 * kMs);
        run.silent(thread, middle, 1400 * kMs + between);
        run.sampled(thread, kInCondition, 1800 * kMs);
      }
      run.sampled(thread, kBarrier, 2 * kSecond);
    }
    return stalls_of(run);
  };
  for (const uint32_t goes_on : {kInCondition, kNone}) {  // kNone: it had no processor to take a sample
    const StallAnalysis whole = found(kPeriodNs, goes_on);
    CHECK(whole.lost_ns == 800 * kMs);
    REQUIRE(whole.stalls.size() == 1);
    REQUIRE(whole.stalls[0].threads.size() == 1);
    CHECK(whole.stalls[0].threads[0].begin_ns == kSecond);
    CHECK(whole.stalls[0].threads[0].end_ns == 1800 * kMs);
    CHECK(whole.stalls[0].threads[0].context == kCondition);
  }
  const StallAnalysis two = found(kPeriodNs, kCompute);
  CHECK(two.lost_ns == 795 * kMs);
  CHECK(two.stalls.size() == 2);
  CHECK(found(51 * kMs, kNone).lost_ns == 749 * kMs);
  CHECK(found(51 * kMs, kNone).unknown_ns == 0);  // it is not known that it is blocked
}

TEST_CASE("A thread that waits for others to end is left out") {
  TracedRun run = late_rank(12);
  run.database.functions[kCondition - 1].name = "pthread_join";
  for (int32_t rank = 0; rank < 12; ++rank) run.sampled(run.thread(rank, 1), kInCondition, 3 * kSecond);
  CHECK(stalls_of(run).bystanders == 12);
  CHECK(stalls_of(run).lost_ns == 800 * kMs);
}

TEST_CASE("Threads that only wait, beside one that meets others, are left out") {
  TracedRun run = late_rank(12);
  for (int32_t rank = 0; rank < 12; ++rank) {
    const uint32_t thread = run.thread(rank, 1);
    run.silent(thread, kBlocked, 3 * kSecond);
  }
  StallAnalysis found = stalls_of(run);
  CHECK(found.bystanders == 12);
  CHECK(found.traces == 12);
  CHECK(found.lost_ns == 800 * kMs);

  // A thread that computes takes part: another thread may be waiting for it.
  run.sampled(run.thread(5, 2), kCompute, 3 * kSecond);
  found = stalls_of(run);
  CHECK(found.traces == 13);
  CHECK(found.lost_ns == 0);
}

TEST_CASE("What a device executes is no thread that waits") {
  TracedRun run = late_rank(12);
  const uint32_t queue = run.thread(0, -1);
  run.database.profiles[queue].id.device = 0;
  run.database.profiles[queue].id.queue = 0;
  run.silent(queue, kCompute, 3 * kSecond);
  const StallAnalysis found = stalls_of(run);
  CHECK(found.traces == 12);
  CHECK(found.lost_ns == 800 * kMs);
}

TEST_CASE("Launchers are left out: who waits for children, and other programs") {
  TracedRun run = late_rank(12);
  for (Function& function : run.database.functions) function.module = 0;
  const uint32_t parent = run.thread(50);
  run.sampled(parent, kCompute, kSecond);
  run.sampled(parent, kBlocked, 3 * kSecond);
  CHECK(stalls_of(run).lost_ns == 0);
  run.database.functions[kBlocked - 1].name = "wait4";
  StallAnalysis found = stalls_of(run);
  CHECK(found.bystanders == 1);
  CHECK(found.lost_ns == 800 * kMs);

  Context mpirun;
  mpirun.parent = 0;
  mpirun.function = static_cast<uint32_t>(run.database.functions.size());
  run.database.contexts.push_back(mpirun);
  run.database.functions.push_back({"main", 1});
  run.sampled(run.thread(51), static_cast<uint32_t>(run.database.contexts.size() - 1), 3 * kSecond);
  found = stalls_of(run);
  CHECK(found.bystanders == 2);
  CHECK(found.lost_ns == 800 * kMs);

  // The same program, and busy: another thread may be waiting for it.
  run.sampled(run.thread(52), kCompute, 3 * kSecond);
  CHECK(stalls_of(run).lost_ns == 0);
}

TEST_CASE("Only the selected threads are looked at") {
  const TracedRun run = late_rank(30);
  const Database database = run.build();
  std::vector<uint32_t> some;
  for (uint32_t rank = 0; rank < 12; ++rank) some.push_back(rank);
  CHECK(find_stalls(database, some, {}).lost_ns == 800 * kMs);
  CHECK(find_stalls(database, {4, 5, 6}, {}).lost_ns == 0);
  CHECK(find_stalls(database, {}, {}).traces == 0);
  CHECK(find_stalls(Database{}, {}, {}).duration_ns() == 0);
}

TEST_CASE("Waits for a device are distinguished: for its work, and woken late") {
  TracedRun run = late_rank(12);
  // The call begins before the other threads wait. The device is done after 300 ms, and the call returns
  // after 750 ms. Other threads wait for devices as well, while no thread waits for them.
  run.database.device_waits = [once = true](std::vector<WaitForDevice>& block) mutable {
    block = {{0, 3, 100 * kMs, 200 * kMs, 0, 0, 50 * kMs},
             {0, 3, 950 * kMs, 1750 * kMs, 10 * kMs, 5 * kMs, 450 * kMs},
             {0, 3, 2 * kSecond, 3 * kSecond, 0, 0, kSecond},
             {0, 4, 950 * kMs, 1750 * kMs, 0, 0, 450 * kMs}};
    return std::exchange(once, false);
  };
  const StallAnalysis found = find_stalls(run.build(), run.everyone(), {});
  REQUIRE(found.stalls.size() == 1);
  CHECK(found.stalls[0].threads[0].waited_for_device_ns == 300 * kMs);
  CHECK(found.stalls[0].threads[0].woken_late_ns == 450 * kMs);
  CHECK(found.stalls[0].threads[0].lost_ns == 800 * kMs);
}
