#include "analysis/findings/memory_waste.h"

#include <catch2/catch.hpp>

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/waste_pattern.h"
#include "tests/report/wasting.h"

using namespace prof;
using namespace prof::test;
using hpcrun::WasteKind;

namespace {

std::vector<Finding> waste_of(const Database& database) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  return memory_waste_findings(tree, run_summary(database));
}

// Returns the run with only the second of its pairs, a dead store of named data, of `count` stores.
Database with_one_pair(uint64_t count, bool is_exact) {
  Database database = wasting(is_exact);
  nlohmann::json run = run_of(database);
  nlohmann::json pair = run["memory_waste"]["pairs"][1];
  pair["count"] = count;
  pair["bytes"] = count * 8;
  run["memory_waste"]["pairs"] = nlohmann::json::array({pair});
  set_run(database, run);
  return database;
}

std::vector<CodeFrame> calls(std::initializer_list<const char*> library, const char* function,
                             uint32_t line) {
  std::vector<CodeFrame> frames;
  for (const char* name : library) frames.push_back({name, "", "/lib/libc.so.6", 0});
  frames.push_back({function, "/src/a.cpp", "/src/a", line});
  return frames;
}

WastePattern pattern(const WastePair& pair, const std::vector<CodeFrame>& first,
                     const std::vector<CodeFrame>& second) {
  return pattern_of(pair, {first, second});
}

WastePair pair_of(WasteKind kind) {
  WastePair pair;
  pair.kind = kind;
  pair.access_bytes = 8;
  return pair;
}

const std::vector<CodeFrame> kFill = calls({}, "fill", 1), kOtherFill = calls({}, "fill", 2);
const std::vector<CodeFrame> kClear = calls({"__memset_avx2_unaligned_erms"}, "fill", 3);
const std::vector<CodeFrame> kOther = calls({}, "other", 4);

}  // namespace

TEST_CASE("a dead store names its data, both lines, its share and the interval of the share") {
  const std::vector<Finding> found = waste_of(wasting());
  REQUIRE(found.size() == 4);
  const Finding& dead = found[1];
  CHECK(dead.kind == FindingKind::DeadStore);
  CHECK(dead.sentence ==
        "Dead store: 15 % (13 to 17 %) of sampled bytes written: quadrant[] is stored by slow_sum "
        "(sum.cpp:14) and "
        "overwritten by fast_sum (sum.cpp:23) before it is read.");
  CHECK(dead.metric == "DEAD_WRITE");
  CHECK(dead.severity == Severity::Medium);
  REQUIRE(dead.contexts.size() == 2);
  CHECK(dead.contexts[0].role == "dead");
  CHECK(dead.contexts[0].is_subject);
  CHECK(dead.contexts[1].role == "killing");
  CHECK(dead.values.at("share") == Approx(0.15));
  CHECK(dead.values.at("share_low") == Approx(0.132).margin(0.001));
  CHECK(dead.values.at("share_high") == Approx(0.1696).margin(0.001));
  CHECK_FALSE(dead.advice.empty());
}

TEST_CASE("silent stores and redundant loads charge the second access") {
  const std::vector<Finding> found = waste_of(wasting());
  REQUIRE(found.size() == 4);
  CHECK(found[0].kind == FindingKind::RedundantLoad);
  CHECK(found[0].sentence ==
        "Redundant load: 30 % (28 to 32 %) of sampled bytes loaded: memory is loaded by slow_sum "
        "(sum.cpp:14) and "
        "loaded again unchanged there.");
  CHECK(found[0].contexts[1].role == "loaded again");
  CHECK(found[0].contexts[1].is_subject);
  CHECK(found[2].kind == FindingKind::SilentStore);
  CHECK(found[2].sentence ==
        "Silent store: 10 % (8.4 to 12 %) of sampled bytes written: memory allocated by worker (main.cpp:25) "
        "is "
        "stored by fast_sum (sum.cpp:23) and stored again with the same value there.");
  REQUIRE(found[2].contexts.size() == 3);
  CHECK(found[2].contexts[2].role == "allocated");
}

TEST_CASE("a stack frame that ended names the function that returned") {
  const std::vector<Finding> found = waste_of(wasting());
  REQUIRE(found.size() == 4);
  CHECK(found[3].sentence.ends_with(
      "stack memory is stored by slow_sum (sum.cpp:14) and not read before slow_sum returns."));
}

TEST_CASE("removing waste saves at most the CPU time at its line") {
  const std::vector<Finding> found = waste_of(wasting());
  REQUIRE(found.size() == 4);
  REQUIRE(found[1].saving);
  CHECK(found[1].saving->is_bound);
  CHECK(found[1].saving->high_s == Approx(5.21));
  CHECK(found[1].cost->share_of_run == Approx(5.21 / 8));
  CHECK(found[2].saving->high_s == Approx(0.25));
}

TEST_CASE("without CPU time no saving is known") {
  Database database = wasting();
  database.metrics[0].name = "DEAD_WRITE";
  const std::vector<Finding> found = waste_of(database);
  REQUIRE(found.size() == 4);
  for (const Finding& finding : found) CHECK_FALSE(finding.saving);
}

TEST_CASE("waste of less than 2 % is no finding") {
  CHECK(waste_of(with_one_pair(19, true)).empty());
  CHECK(waste_of(with_one_pair(20, true)).size() == 1);
  CHECK(waste_of(with_one_pair(19, false)).empty());
}

TEST_CASE("a few sampled accesses are no finding, whatever their share") {
  Database database = with_one_pair(4, false);
  nlohmann::json run = run_of(database);
  run["memory_waste"]["totals"][0] = waste_total("dead-store", 20, 4, 0);
  set_run(database, run);
  CHECK(waste_of(database).empty());
  run["memory_waste"]["is_exact"] = true;
  set_run(database, run);
  CHECK(waste_of(database).size() == 1);
}

TEST_CASE("exact shares have no interval") {
  const std::vector<Finding> found = waste_of(wasting(true));
  REQUIRE(found.size() == 4);
  CHECK(found[1].sentence.starts_with("Dead store: 15 % of all bytes written: "));
  CHECK(found[1].values.at("share_low") == found[1].values.at("share_high"));
}

TEST_CASE("pairs of the same lines are one finding, whatever their call paths") {
  Database database = with_one_pair(12, true);
  nlohmann::json run = run_of(database);
  nlohmann::json& pairs = run["memory_waste"]["pairs"];
  pairs.push_back(pairs[0]);
  set_run(database, run);
  const std::vector<Finding> found = waste_of(database);
  REQUIRE(found.size() == 1);
  CHECK(found[0].cost->value == 24 * 8);
  CHECK(found[0].values.at("call_paths") == 2);
}

TEST_CASE("a run without waste has no finding of it") {
  CHECK(waste_of(example()).empty());
  Database database = with_one_pair(0, true);
  CHECK(waste_of(database).empty());
  nlohmann::json run = run_of(database);
  run["memory_waste"]["pairs"] = nlohmann::json::array();
  run["memory_waste"]["totals"] = nlohmann::json::array();
  set_run(database, run);
  CHECK(waste_of(database).empty());
}

TEST_CASE("the id of a finding does not depend on its share") {
  CHECK(waste_of(with_one_pair(20, true))[0].id == waste_of(with_one_pair(200, false))[0].id);
  CHECK(waste_of(wasting())[0].id != waste_of(wasting())[3].id);
}

TEST_CASE("the summary has wasted stores and loads") {
  const Database database = wasting();
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const std::vector<Finding> all = all_findings(tree, run_summary(database), nullptr);
  CHECK(std::ranges::count(all, FindingKind::DeadStore, &Finding::kind) == 2);
  CHECK(view_of(FindingKind::DeadStore) == "memory-waste");
}

TEST_CASE("usual causes of dead stores are recognized") {
  WastePair pair = pair_of(WasteKind::DeadStore);
  CHECK(pattern(pair, kClear, kOther) == WastePattern::ClearThenFill);
  CHECK(pattern(pair, kClear, kClear) == WastePattern::SparseInitialization);
  CHECK(pattern(pair, kFill, kOther) == WastePattern::Other);
  CHECK(pattern(pair, kFill, kFill) == WastePattern::Other);
  CHECK(pattern(pair, kFill, kOtherFill) == WastePattern::RepeatedStore);
  CHECK(pattern(pair, calls({}, "net::Buffer<int>::Buffer(unsigned long)", 5), kOther) ==
        WastePattern::ConstructThenAssign);
  CHECK(pattern(pair, calls({}, "(anonymous namespace)::Row::Row()", 5), kOther) ==
        WastePattern::ConstructThenAssign);
  CHECK(pattern(pair, calls({}, "net::Buffer<int>::clear()", 5), kOther) == WastePattern::Other);
  pair.name = "quadrant[]";
  CHECK(pattern(pair, kFill, kFill) == WastePattern::SparseInitialization);
  pair.name = "last";
  CHECK(pattern(pair, kFill, kFill) == WastePattern::RepeatedStore);
}

TEST_CASE("dead stores to a stack are spills, locals that are not used, or cleared buffers") {
  WastePair pair = pair_of(WasteKind::DeadStore);
  pair.on_stack = true;
  CHECK(pattern(pair, kFill, kOtherFill) == WastePattern::RegisterSpill);
  CHECK(pattern(pair, kFill, kOther) == WastePattern::Other);
  CHECK(pattern(pair, kClear, kClear) == WastePattern::OversizedClear);
  pair.frame_ended = true;
  CHECK(pattern(pair, kClear, kFill) == WastePattern::OversizedClear);
  CHECK(pattern(pair, kFill, kFill) == WastePattern::UnusedLocal);
}

TEST_CASE("usual causes of silent stores and redundant loads are recognized") {
  const WastePair silent = pair_of(WasteKind::SilentStore);
  CHECK(pattern(silent, kFill, kFill) == WastePattern::SameValue);
  CHECK(pattern(silent, kClear, kFill) == WastePattern::SameValue);
  CHECK(pattern(silent, kClear, kClear) == WastePattern::SparseInitialization);
  WastePair load = pair_of(WasteKind::RedundantLoad);
  CHECK(pattern(load, kFill, kOtherFill) == WastePattern::InvariantLoad);
  CHECK(pattern(load, kFill, kOther) == WastePattern::RepeatedLoad);
  load.on_stack = true;
  CHECK(pattern(load, kFill, kFill) == WastePattern::RegisterSpill);
}
