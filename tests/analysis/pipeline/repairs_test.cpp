// The report of a run's repairs contains everything that the runtime counted.

#include "analysis/pipeline/repairs.h"

#include <catch2/catch.hpp>

#include "analysis/views/run/format_repairs.h"

using namespace prof;
using hpcrun::Counter;

namespace {

constexpr uint64_t kMs = 1'000'000;

// A process whose threads were converted for ten seconds, with a page that took half of the time before.
ProcessMeasurement isolated_process(uint64_t guarantee, uint64_t isolated_pace, uint64_t common_pace) {
  ProcessMeasurement measurement;
  const auto count = [&](Counter counter) -> uint64_t& {
    return measurement.counters[static_cast<size_t>(counter)];
  };
  count(Counter::Repairs) = hpcrun::kRepairsIsolate;
  count(Counter::Conversions) = 4;
  count(Counter::ConversionNanoseconds) = 50 * kMs;
  count(Counter::LongestConversion) = 20 * kMs;
  count(Counter::PageCommits) = 25'000;
  count(Counter::CommitNanoseconds) = 100 * kMs;
  count(Counter::ConvertedNanoseconds) = 10'000 * kMs;
  count(Counter::IsolationGuarantee) = guarantee;
  count(Counter::MeetingsIsolated) = isolated_pace;
  count(Counter::MeetingsCommon) = common_pace;
  MeasuredRepair& page = measurement.repairs.emplace_back();
  page.kind = hpcrun::RepairKind::PageIsolated;
  page.address = 0x1000;
  page.conflicts = 500'000;
  measurement.repairs.push_back(page);  // and again, after a fork
  return measurement;
}

RepairsRecord record_of(const std::vector<ProcessMeasurement>& processes) {
  RunRepairs repairs;
  for (const ProcessMeasurement& one : processes) repairs.add(one, {});
  return repairs.take();
}

std::string all_words(const RepairsRecord& record) {
  std::string all;
  for (const std::string& line : format_repairs(CallTree{}, record)) all += line + "\n";
  return all;
}

}  // namespace

TEST_CASE("what isolation cost and gained is reported, by commits in a second and by shares of the time") {
  const RepairsRecord record = record_of({isolated_process(hpcrun::kIsolatedPlain, 30'000, 20'000)});
  const std::string all = all_words(record);
  CHECK(all.find(
            "Converted threads made 2500 commits per second; commits and conversions took 2.0 % of their "
            "CPU time. Before, sharing the pages took 50 % at most. Threads synchronized 1.50 times as often "
            "as with shared pages.") != std::string::npos);
  CHECK(repairs_in_short(record).ends_with(": costs 2.0 %, sharing cost 50 %"));
}

TEST_CASE("what was not tried, or shared by nobody, is not reported") {
  ProcessMeasurement measurement = isolated_process(hpcrun::kIsolatedPlain, 0, 0);
  for (MeasuredRepair& page : measurement.repairs) page.conflicts = 0;  // isolate:always
  const RepairsRecord record = record_of({measurement});
  CHECK(all_words(record).find("conversions took 2.0 % of their CPU time.\n") != std::string::npos);
  CHECK(repairs_in_short(record).ends_with(": costs 2.0 %"));
}

TEST_CASE(
    "what was laid out anew is reported in short where pages are isolated as well, and fits on the line") {
  RepairsRecord record = record_of({isolated_process(hpcrun::kIsolatedPlain, 0, 0)});
  RepairsRecord::Site site;
  site.kind = SiteFate::Placed;
  site.since_s = 0.283;
  record.sites.push_back(site);
  const std::string pages = "; 2 pages isolated after 0 s: costs 2.0 %, sharing cost 50 %";
  CHECK(repairs_in_short(record) == "1 site after 283 ms" + pages);
  record.placed_allocations = 1'080;
  record.padding_bytes = 60'000;
  CHECK(repairs_in_short(record) == "1 site after 283 ms: 1080 allocations placed" + pages);
  CHECK(repairs_in_short(record).size() < 110);
  record.conversions = 0;
  CHECK(repairs_in_short(record).ends_with("; 2 pages to be isolated, no thread was converted"));
  record.pages.clear();
  CHECK(repairs_in_short(record).find(" of padding") != std::string::npos);
}

TEST_CASE(
    "the guarantee is that of annotated code only where all of it was, in all processes, at all times") {
  using hpcrun::kIsolatedAnnotated;
  using hpcrun::kIsolatedPlain;
  const auto guarantee = [](std::vector<uint64_t> processes) {
    std::vector<ProcessMeasurement> all;
    for (const uint64_t one : processes) all.push_back(isolated_process(one, 0, 0));
    return record_of(all).guarantee;
  };
  CHECK(guarantee({kIsolatedAnnotated}) == Guarantee::Annotated);
  CHECK(guarantee({kIsolatedPlain}) == Guarantee::Calls);
  CHECK(guarantee({kIsolatedAnnotated | kIsolatedPlain}) == Guarantee::Calls);
  CHECK(guarantee({kIsolatedAnnotated, kIsolatedPlain}) == Guarantee::Calls);
  CHECK(guarantee({kIsolatedPlain, kIsolatedAnnotated}) == Guarantee::Calls);
  CHECK(guarantee({0}) == Guarantee::None);
  ProcessMeasurement unconverted = isolated_process(kIsolatedAnnotated, 0, 0);
  unconverted.counters[static_cast<size_t>(Counter::Conversions)] = 0;
  CHECK(record_of({unconverted}).guarantee == Guarantee::None);
  CHECK(all_words(record_of({isolated_process(kIsolatedAnnotated, 0, 0)}))
            .find("All of the program's code is annotated") != std::string::npos);
}

TEST_CASE("locks that stayed are reported by each reason that the runtime has") {
  ProcessMeasurement measurement;
  const auto count = [&](Counter counter) -> uint64_t& {
    return measurement.counters[static_cast<size_t>(counter)];
  };
  uint64_t number = 0;
  for (const Counter counter :
       {Counter::LocksDeclinedRobust, Counter::LocksDeclinedPriority, Counter::LocksDeclinedShared,
        Counter::LocksDeclinedSpin, Counter::LocksDeclinedNoMemory, Counter::LocksDeclinedElided})
    count(counter) = ++number;
  RunRepairs repairs;
  repairs.add(measurement, {});
  repairs.add(measurement, {});
  const RepairsRecord record = repairs.take();
  CHECK(record.declined_locks == std::map<LockObstacle, uint64_t>{{LockObstacle::Robust, 2},
                                                                  {LockObstacle::Priority, 4},
                                                                  {LockObstacle::Shared, 6},
                                                                  {LockObstacle::Spin, 8},
                                                                  {LockObstacle::Memory, 10},
                                                                  {LockObstacle::Elided, 12}});
}

TEST_CASE("of locks that were moved their finding tells, and of no others") {
  ProcessMeasurement measurement;
  measurement.process.start_monotonic_ns = 1'000 * kMs;
  measurement.counters[static_cast<size_t>(Counter::Repairs)] = hpcrun::kRepairsLocks;
  MeasuredRepair& lock = measurement.repairs.emplace_back();
  lock.kind = hpcrun::RepairKind::LocksMoved;
  lock.time_ns = 1'400 * kMs;
  lock.address = 0x2068;
  RunRepairs repairs;
  repairs.add(measurement, {});
  RepairsRecord record = repairs.take();
  CHECK(record.sites.empty());

  const auto contended = [](DataKind kind, std::string module, uint64_t line) {
    ContendedRecord one;
    one.kind = kind;
    one.module = std::move(module);
    one.sides.emplace_back().line = line;
    return one;
  };
  std::vector<ContendedRecord> contention{contended(DataKind::Variable, "/bin/app", 0x2040),
                                          contended(DataKind::Unknown, "/bin/app", 0x2080),
                                          contended(DataKind::Unknown, "", 0x7000)};
  describe_repairs(record, repairs.moved_locks(), contention);
  CHECK(contention[0].repair == "After 400 ms of the run, these locks had their own cache lines.");
  CHECK(contention[1].repair.find("Not repaired: the program's build determines where variables lie") == 0);
  CHECK(contention[2].repair == "Not repaired: it is not known who allocated the memory.");
}
