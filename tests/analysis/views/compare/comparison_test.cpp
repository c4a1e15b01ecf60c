// Two runs compared: what is matched, and the resulting numbers, all of which are computed by hand.

#include "analysis/views/compare/comparison.h"

#include <catch2/catch.hpp>

#include "analysis/views/compare/format_comparison.h"
#include "analysis/views/tree/function_costs.h"
#include "tests/report/database_builder.h"

using namespace prof;
using namespace prof::test;

namespace {

RunCosts all_costs(const Database& database) {
  const Selection selection = select(database, {}, {});
  return {selection, context_costs(database, selection)};
}

struct Compared2 {
  Compared2(const Database& first, const Database& second, const ComparisonOptions& options = {})
      : both(match_databases(first, second)),
        tree(compare(*both, build_call_tree(first, select(first, {}, {}), false), all_costs(second),
                     options)) {}

  std::string name(uint32_t frame) const { return frame_name(*tree.database, tree.frames[frame]); }
  uint32_t frame(const std::string& wanted) const {
    for (uint32_t f = 0; f < tree.frames.size(); ++f)
      if (name(f) == wanted) return f;
    return kNone;
  }
  std::vector<Cost> row(const std::string& function) const {
    const std::vector<Cost> costs = function_costs(tree);
    const size_t at = frame(function) * tree.metrics();
    return {costs.begin() + static_cast<ptrdiff_t>(at),
            costs.begin() + static_cast<ptrdiff_t>(at + tree.metrics())};
  }
  Change change(const std::string& function, bool is_inclusive = false, size_t metric = 0) const {
    return change_of(*tree.compared, row(function), metric, is_inclusive);
  }
  size_t frames_named(const std::string& wanted) const {
    size_t count = 0;
    for (uint32_t f = 0; f < tree.frames.size(); ++f) count += name(f) == wanted;
    return count;
  }

  std::unique_ptr<const MatchedDatabases> both;
  CallTree tree;
};

// main calls work, which calls itself and leaf. old_name, which is renamed later, and rest are the others.
Database before() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.thread(0, "main");
  for (const char* const name : {"main", "work", "leaf", "old_name", "rest"})
    b.function(name, "sum.cpp", "/a/sum", 1);
  b.spend(0, {{"main", 10}, {"work", 20}}, 2);
  b.spend(0, {{"main", 10}, {"work", 21}, {"work", 20}}, 1);
  b.spend(0, {{"main", 10}, {"work", 22}, {"leaf", 40}}, 3);
  b.spend(0, {{"main", 11}, {"old_name", 50}}, 1.5);
  b.spend(0, {{"main", 12}, {"rest", 60}}, 0.5);
  return b.build();
}

// The same program rebuilt elsewhere, with other lines and addresses: work costs more, leaf less, and one
// function is renamed.
Database after() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.thread(0, "main");
  for (const char* const name : {"leaf", "new_name", "rest", "work", "main"})
    b.function(name, "sum.cpp", "/b/sum", 7);
  b.spend(0, {{"main", 110}, {"work", 120}}, 5);
  b.spend(0, {{"main", 110}, {"work", 121}, {"work", 120}}, 2);
  b.spend(0, {{"main", 110}, {"work", 122}, {"leaf", 140, true}}, 1);
  b.spend(0, {{"main", 111}, {"new_name", 150}}, 1.5);
  b.spend(0, {{"main", 112}, {"rest", 160}}, 0.5);
  return b.build();
}

}  // namespace

TEST_CASE("functions match by name across a build with other addresses, lines and folders") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b);
  REQUIRE(runs.tree.compared);
  REQUIRE(runs.tree.metrics() == 2);
  CHECK(runs.tree.distinct_metrics() == 1);
  CHECK(runs.frames_named("work") == 1);
  CHECK(runs.tree.totals == std::vector<double>{8, 10});
  CHECK(runs.change("work").before == 3);
  CHECK(runs.change("work").after == 7);
  CHECK(runs.change("work").difference() == 4);
  CHECK(runs.change("leaf").before == 3);
  CHECK(runs.change("leaf").after == 1);
  CHECK(runs.change("rest").is_same());
  CHECK(runs.change("main", true).before == 8);
  CHECK(runs.change("main", true).after == 10);
}

TEST_CASE("a recursive function counts once on both sides") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b);
  CHECK(runs.change("work", true).before == 6);
  CHECK(runs.change("work", true).after == 8);
  const Compared2 folded(a, b, {.merge_recursion = true});
  CHECK(folded.change("work", true).before == 6);
  CHECK(folded.change("work", true).after == 8);
  CHECK(folded.tree.nodes.size() + 1 == runs.tree.nodes.size());
}

TEST_CASE("a renamed function is gone under the one name and new under the other") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b);
  CHECK(presence_of(*runs.tree.compared, runs.row("old_name")) == Presence::OnlyBefore);
  CHECK(presence_of(*runs.tree.compared, runs.row("new_name")) == Presence::OnlyAfter);
  CHECK(presence_of(*runs.tree.compared, runs.row("work")) == Presence::Both);
  CHECK(runs.change("old_name").share() == -1);
  CHECK(runs.change("new_name").share() == 1);
}

TEST_CASE("functions that changed come by the size of the difference, with words for each") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b);
  std::vector<std::string> lines;
  for (const FunctionChange& change : changed_functions(runs.tree, 0))
    lines.push_back(runs.name(change.frame) + ": " + format_function_change(runs.tree, change, 0));
  CHECK(lines == std::vector<std::string>{"work: 7.00 s instead of 3.00 s, 4.00 s more (x 2.33)",
                                          "leaf: 1.00 s instead of 3.00 s, 2.00 s less (x 0.33)",
                                          "old_name: gone: was 1.50 s", "new_name: 1.50 s, new"});
  CHECK(format_total_change(runs.tree, 0) == "CPUTIME: 10.0 s instead of 8.00 s, 2.00 s more (x 1.25)");
}

TEST_CASE("the second run can be the one before") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b, {.is_second_before = true});
  CHECK(runs.change("work").before == 7);
  CHECK(runs.change("work").after == 3);
  CHECK(presence_of(*runs.tree.compared, runs.row("old_name")) == Presence::OnlyAfter);
}

TEST_CASE("runs of different length are scaled to the same total where that is asked for") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b, {.same_total = true});
  CHECK(runs.tree.totals == std::vector<double>{8, 8});
  CHECK(runs.change("work").after == Approx(5.6));
  CHECK(runs.change("main", true).is_same());
  CHECK(format_scale(runs.tree, 0) == "the costs after are scaled by 0.8 to equal totals");
  CHECK(format_scale(Compared2(a, b).tree, 0).empty());
}

TEST_CASE("nothing is different between a run and itself") {
  const Database a = before();
  for (const bool same_total : {false, true}) {
    const Compared2 runs(a, a, {.same_total = same_total});
    CHECK(changed_functions(runs.tree, 0).empty());
    CHECK(runs.both->database.contexts.size() == a.contexts.size());
    CHECK(runs.both->database.functions.size() == a.functions.size());
    CHECK(runs.tree.nodes.size() == build_call_tree(a, select(a, {}, {}), false).nodes.size());
    CHECK(format_total_change(runs.tree, 0) == "CPUTIME: the same, 8.00 s");
  }
}

TEST_CASE("everything of the first run keeps its indices") {
  const Database a = before(), b = after();
  const Compared2 runs(a, b);
  for (size_t c = 0; c < a.contexts.size(); ++c) CHECK(runs.both->database.contexts[c] == a.contexts[c]);
  for (size_t f = 0; f < a.functions.size(); ++f) CHECK(runs.both->database.functions[f] == a.functions[f]);
  CHECK(runs.both->database.profiles == a.profiles);
  CHECK(runs.both->files == std::vector<uint32_t>{0});
}

TEST_CASE("a metric that one run does not have is said to be missing there") {
  const Database a = before();
  Database b = after();
  b.metrics.front() = {"CYCLES", "", ""};
  const Compared2 runs(a, b);
  REQUIRE(runs.tree.distinct_metrics() == 2);
  CHECK(format_total_change(runs.tree, 0) == "CPUTIME: 8.00 s before; it was not measured after");
  CHECK(format_total_change(runs.tree, 1) == "CYCLES: 10; it was not measured before");
  CHECK(runs.change("work", false, 0).after == 0);
  CHECK(runs.change("work", false, 1).after == 7);
}

TEST_CASE("functions of one name are distinguished by module and file, and by their order in a file") {
  const auto make = [](const char* module, double first, double second, double other) {
    Database database;
    database.title = "x";
    database.metrics = {{"CPUTIME", "sec", ""}};
    database.modules = {{std::string(module) + "/app"}, {"/lib/libother.so"}};
    database.files = {{"a.cpp", false}, {"b.cpp", false}};
    // Two functions of one file in the order of their lines, and one of another module.
    database.functions = {{"init", 0, 64, 0, 30}, {"init", 0, 32, 0, 10}, {"init", 1, 32, 1, 5}};
    Context entry;
    entry.kind = ContextKind::Entry;
    entry.entry = "main thread";
    database.contexts = {entry};
    Profile profile;
    profile.id.thread = 0;
    double sum = 0;
    for (uint32_t f = 0; f < 3; ++f) {
      Context called;
      called.parent = 0;
      called.function = f;
      database.contexts.push_back(called);
      const double cost = f == 0 ? first : f == 1 ? second : other;
      profile.values.push_back({f + 1, 0, {cost, cost, 0}});
      sum += cost;
    }
    profile.values.insert(profile.values.begin(), {0, 0, {0, sum, 0}});
    database.profiles = {profile};
    return database;
  };
  const Database a = make("/one", 1, 2, 4);
  Database b = make("/two", 10, 20, 40);
  std::swap(b.functions[0], b.functions[2]);
  const Compared2 runs(a, b);
  REQUIRE(runs.frames_named("init") == 3);
  const std::vector<Cost> costs = function_costs(runs.tree);
  std::map<double, double> after_by_before;
  for (uint32_t f = 0; f < runs.tree.frames.size(); ++f)
    if (runs.name(f) == "init") after_by_before[costs[2 * f].exclusive] = costs[2 * f + 1].exclusive;
  CHECK(after_by_before == std::map<double, double>{{1, 40}, {2, 20}, {4, 10}});
}

TEST_CASE("a copy that the compiler made of a function is that function") {
  const Database a = before();
  Database b = after();
  b.functions.front().name += " [clone .constprop.0]";
  const Compared2 runs(a, b);
  CHECK(runs.change("leaf").after == 1);
}

TEST_CASE("only the same threads are compared where some are chosen") {
  const auto make = [](int process) {
    Database database;
    for (const int thread : {0, 1, 2}) {
      Profile profile;
      profile.id = {"host", -1, process, thread, ""};
      database.profiles.push_back(profile);
    }
    return database;
  };
  const Database a = make(100);
  Database b = make(4711);
  b.profiles.pop_back();
  CHECK(same_threads(a, {1, 2}, b) == std::vector<uint32_t>{1});
  CHECK(same_threads(a, {0, 1, 2}, b) == std::vector<uint32_t>{0, 1});
}

TEST_CASE("matching can be given up") {
  const Database a = before(), b = after();
  CHECK(match_databases(a, b, [](double) { return false; }) == nullptr);
}

TEST_CASE("ratios and differences have words") {
  const Metric seconds{"CPUTIME", "sec", ""}, count{"FAULTS", "", ""};
  CHECK(format_ratio({2, 3}, Presence::Both) == "x 1.50");
  CHECK(format_ratio({2, 30}, Presence::Both) == "x 15");
  CHECK(format_ratio({4, 0.0148}, Presence::Both) == "x 0.0037");
  CHECK(format_ratio({0, 3}, Presence::OnlyAfter) == "new");
  CHECK(format_ratio({0, 3}, Presence::Both) == "from 0");
  CHECK(format_ratio({3, 0}, Presence::OnlyBefore) == "gone");
  CHECK(format_ratio({3, 0}, Presence::Both) == "to 0");
  CHECK(format_ratio({0, 0}, Presence::Both).empty());
  CHECK(format_difference(count, {1000, 2234567}) == "+2,233,567");
  CHECK(format_difference(seconds, {3, 1}) == "-2.00 s");
  CHECK(format_difference(seconds, {1, 1}) == "0");
}
