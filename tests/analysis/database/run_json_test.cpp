// A run as JSON: every enum has one spelling for each value, and what is written is what is read.

#include <catch2/catch.hpp>
#include <set>

#include "tests/analysis/database/run_text.h"

using namespace prof;
using namespace prof::test;

namespace {

template <typename Enum>
void check_spellings() {
  std::set<Enum> values;
  std::set<std::string_view> texts;
  for (const auto& [value, text] : spellings<Enum>()) {
    CAPTURE(text);
    CHECK(values.insert(value).second);
    CHECK(texts.insert(text).second);
    CHECK(name_of(value) == text);
    CHECK(named<Enum>(text) == value);
  }
  CHECK(named<Enum>("no such thing") == spellings<Enum>().front().value);
}

RunSummary whole_run() {
  RunSummary run;
  run.command = "./app";
  run.host = "node";
  run.start = "2026-01-01T00:00:00Z";
  run.wall_s = 2;
  run.cpu_s = 3.5;
  run.run_queue_s = 0.25;
  run.program_s = 1.5;
  run.exit_status = 3;
  run.signal = 9;
  run.processes = 2;
  run.threads = 4;
  run.ranks = 1;
  run.sampling_recorded = true;
  run.sampling = {"timer", 1000, 900, 3000};
  run.by_metric["CPUTIME"] = run.sampling;
  run.dropped["overrun"] = 7;
  run.paused_s = 0.5;
  run.stacks = StackQuality{10, 2, 1, {{"end_of_stack", 10}}};
  run.overhead_cpu_s = 0.01;
  run.overhead_start_s = 0.005;
  run.runtime_bytes = 4096;
  run.notes = {{hpcrun::NoteKind::Run, "one"}, {hpcrun::NoteKind::Traces, "other"}};
  run.devices.emplace_back().queues.push_back({1, "queue"});
  run.looked_for_contention = true;
  run.contention_sources = {hpcrun::ContentionSource::Pebs, hpcrun::ContentionSource::Pages};
  ContendedRecord& record = run.contention.emplace_back();
  record.sharing = hpcrun::Sharing::Mixed;
  record.kind = DataKind::Allocation;
  record.source = EvidenceSource::IbsByPerf;
  record.remedy = Remedy::CopyPerThread;
  record.changes.emplace_back().what = ChangedPart::Elements;
  record.allocations.push_back({2, 64, 3});
  ContendedRecord::Side& side = record.sides.emplace_back();
  side.profile = 1;
  side.context = 2;
  side.bytes = 8;
  side.access = hpcrun::AccessKind::Write;
  run.followed_locks = true;
  LockRecord& lock = run.locks.locks.emplace_back();
  lock.kind = WaitedFor::OpenMpLock;
  lock.waiters.push_back({1, 2, 3, 0.5, 0.25, 1});
  lock.holders.push_back({2, 1, 3, 0.5, 0.25, 0});
  run.locks.blocked.push_back({WaitedFor::ParallelRegion, 1, 2, 3, 0.5, 0.25, 0});
  run.locks.idle.push_back({1, 2, 0.5, 0.25, 0.125, 1, 1});
  run.locks.open.emplace_back().kind = WaitedFor::SpinLock;
  run.repairs.layout = true;
  run.memory_waste.was_searched = run.memory_waste.is_exact = true;
  run.memory_waste.totals.push_back({hpcrun::WasteKind::SilentStore, 10, 80, 5, 40, 2});
  run.memory_waste.pairs.push_back(
      {hpcrun::WasteKind::RedundantLoad, 1, 2, true, 5, 40, 8, 2, "a.b", "a.c:1", true});
  run.repairs.declined_locks = {{LockObstacle::Spin, 2}, {LockObstacle::Elided, 1}};
  run.repairs.sites.emplace_back().kind = SiteFate::Planned;
  RepairsRecord::Page& page = run.repairs.pages.emplace_back();
  page.kind = PageFate::Shared;
  page.why = hpcrun::WhyShared::Forked;
  run.repairs.guarantee = Guarantee::Calls;
  return run;
}

}  // namespace

TEST_CASE("each spelling stands for one value, and an unknown one reads as the first") {
  check_spellings<hpcrun::Sharing>();
  check_spellings<hpcrun::AccessKind>();
  check_spellings<hpcrun::ContentionSource>();
  check_spellings<hpcrun::WhyShared>();
  CHECK(named<hpcrun::WhyShared>("that cost more than the sharing") == hpcrun::WhyShared::Expensive);
  check_spellings<hpcrun::NoteKind>();
  check_spellings<DataKind>();
  check_spellings<EvidenceSource>();
  check_spellings<Remedy>();
  check_spellings<ChangedPart>();
  check_spellings<WaitedFor>();
  check_spellings<LockObstacle>();
  check_spellings<hpcrun::WasteKind>();
  check_spellings<SiteFate>();
  check_spellings<PageFate>();
  check_spellings<Guarantee>();
}

TEST_CASE("a run reads as it was written") {
  const nlohmann::json written = run_as_json(whole_run());
  const RunSummary read = run_in(written, {3, 2});
  CHECK(run_as_json(read) == written);
  CHECK(read.contention[0].sides[0].access == hpcrun::AccessKind::Write);
  CHECK(read.contention[0].source == EvidenceSource::IbsByPerf);
  CHECK(read.locks.blocked[0].kind == WaitedFor::ParallelRegion);
  CHECK(read.repairs.pages[0].why == hpcrun::WhyShared::Forked);
  CHECK(read.repairs.declined_locks == whole_run().repairs.declined_locks);
  CHECK(read.memory_waste.pairs[0].kind == hpcrun::WasteKind::RedundantLoad);
  CHECK(read.notes == whole_run().notes);
}

TEST_CASE("what leads to contexts and profiles that are not there is left out") {
  const RunSummary read = run_in(run_as_json(whole_run()), {1, 1});
  CHECK(read.devices[0].queues.empty());
  CHECK(read.contention[0].sides.empty());
  CHECK(read.contention[0].allocations[0].context == 0);
  CHECK(read.locks.locks.empty());
  CHECK(read.locks.blocked.empty());
  CHECK(read.locks.idle.empty());
  CHECK(read.locks.open.size() == 1);
  CHECK(read.memory_waste.pairs.empty());
  CHECK(read.memory_waste.totals.size() == 1);
}
