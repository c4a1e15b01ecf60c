// Runs before and after a change: what is found, what is chance, and what does not scale.

#include "analysis/views/compare/run_changes.h"

#include <catch2/catch.hpp>

#include "analysis/findings/run_changes.h"
#include "analysis/views/compare/format_run_changes.h"
#include "tests/report/sampled_runs.h"

using namespace prof;
using namespace prof::test;

namespace {

struct Compared3 {
  Compared3(const std::vector<Database>& before, const std::vector<Database>& after,
            const RunChangeOptions& options = {}) {
    match_runs(runs, before, after);
    changes = find_changes(runs, options);
  }
  std::string words(const RunChange& change) const { return format_row(runs, change, 0); }
  std::vector<std::string> rows() const {
    std::vector<std::string> names;
    for (const RunChange& change : changes.rows) names.push_back(words(change));
    return names;
  }
  // Only rows: if a function is slower, so is the whole.
  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const RunChange& change : changes.rows)
      if (change.is_significant()) names.push_back(words(change));
    return names;
  }

  MatchedRuns runs;
  RunChanges changes;
};

// One function and a copy of it, code without names, and another function, with the same costs in every run.
Database exact_run(double work, double copy, double nameless, uint32_t line = 12,
                   const std::string& offset = "0x10") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.function("work", "work.cpp", "/bin/app", 10);
  b.function("work [clone .cold]", "work.cpp", "/bin/app", 10);
  b.function("libz.so.1+" + offset, "", "/lib/libz.so.1");
  const uint32_t thread = b.thread(0, "app");
  b.spend(thread, {{"main", 5}, {"work", line}}, work);
  b.spend(thread, {{"main", 5}, {"work", line}, {"work [clone .cold]", line}}, copy);
  b.spend(thread, {{"main", 5}, {"libz.so.1+" + offset}}, nameless);
  b.database.title = "app";
  return b.build();
}

}  // namespace

TEST_CASE("15 % more in one function is the first finding, in 20 of 20") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Compared3 versions(sampled_runs({}, 1000 * seed, 5),
                             sampled_runs({.slower = 0.15}, 1000 * seed + 500, 5));
    REQUIRE_FALSE(versions.found().empty());
    CHECK(versions.found().front() == "hot (work.cpp:12)");
    CHECK(versions.changes.rows.front().exclusive.difference() > 0);
  }
}

TEST_CASE("nothing is found in runs of the same program, in 20 of 20") {
  for (const int runs : {1, 2, 3, 5}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(runs, seed);
      const Compared3 same(sampled_runs({}, 1000 * seed, runs), sampled_runs({}, 1000 * seed + 500, runs));
      CHECK(same.found().empty());
      CHECK_FALSE(same.changes.total.is_significant());
    }
  }
}

TEST_CASE("by path and by line the same is found where it is") {
  const auto before = sampled_runs({}, 1, 5), after = sampled_runs({.slower = 0.3}, 501, 5);
  CHECK(Compared3(before, after, {.by = ComparedBy::Path}).found().front() == "hot (work.cpp:12) <- main");
  CHECK(Compared3(before, after, {.by = ComparedBy::Line}).found().front() == "hot (work.cpp:12)");
}

TEST_CASE("a large difference of one run is found, and said to be of one run") {
  const Compared3 versions({sampled_run({.samples = 10000}, 1)},
                           {sampled_run({.samples = 10000, .slower = 0.5}, 2)});
  REQUIRE(versions.found() == std::vector<std::string>{"hot (work.cpp:12)"});
  CHECK(format_judgement(versions.changes) ==
        "one run per side: the variation between runs is not measured, 3.0 % is assumed; use three or more "
        "runs per side");
}

TEST_CASE("copies of a function and code without names are the same in every build") {
  const Compared3 builds({exact_run(6, 1, 3)}, {exact_run(5, 2, 3, 12, "0x20")});
  CHECK(builds.rows().empty());
  const Compared3 slower({exact_run(6, 1, 3)}, {exact_run(6, 1, 4, 12, "0x20")});
  REQUIRE(slower.rows() == std::vector<std::string>{"[libz.so.1]"});
  CHECK(slower.changes.rows[0].exclusive.before == 3);
  CHECK(slower.changes.rows[0].exclusive.after == 4);
  CHECK(slower.changes.rows[0].share == Approx(0.1));
}

TEST_CASE("a function that takes other arguments is the same function") {
  const auto run = [](const std::string& name, double cost) {
    DatabaseBuilder b;
    b.metric("CPUTIME", "sec");
    b.function(name, "work.cpp", "/bin/app", 10);
    b.spend(b.thread(0), {{"main", 5}, {name, 12}}, cost);
    return b.build();
  };
  const Compared3 versions({run("work(int)", 5)}, {run("work(int, std::function<void (int)>)", 7)});
  REQUIRE(versions.rows().size() == 1);
  CHECK(versions.changes.rows[0].exclusive.before == 5);
  CHECK(versions.changes.rows[0].exclusive.after == 7);
  CHECK(Compared3({run("f::operator()(int)", 5)}, {run("f::operator()(long)", 5)}).rows().empty());
}

TEST_CASE("what is new and what is gone is said to be") {
  const Compared3 versions(sampled_runs({}, 1, 3), sampled_runs({.prefix = "very_"}, 501, 3));
  const std::vector<Finding> findings = change_findings(versions.runs, versions.changes, Scaling::None);
  REQUIRE(findings.size() == 2);
  const std::string both = findings[0].sentence + "\n" + findings[1].sentence;
  CHECK(both.find("very_hot (very_hot.cpp:12) is new and takes ") != std::string::npos);
  CHECK(both.find("hot (work.cpp:12) is gone and took ") != std::string::npos);
}

TEST_CASE("a run on another machine is compared by shares where that is asked for") {
  auto before = sampled_runs({.samples = 2000}, 1, 3), after = sampled_runs({.samples = 4000}, 501, 3);
  CHECK(Compared3(before, after).changes.total.is_significant());
  const Compared3 shares(before, after, {.same_total = true});
  CHECK(shares.found().empty());
  CHECK(shares.changes.total.exclusive.is_same());
}

TEST_CASE("what a CI log reports of a regression is one line") {
  const Compared3 versions({exact_run(6, 1, 3)}, {exact_run(9, 1, 3)});
  REQUIRE(versions.changes.rows.size() == 1);
  CHECK(regression_line(versions.runs, versions.changes, versions.changes.rows[0]) ==
        "regression: work (work.cpp:12) +42.9 % (7.00 s -> 10.0 s, one run per side, p < 0.0001)");
  CHECK(regression_line(versions.runs, versions.changes, versions.changes.total) ==
        "regression: the whole run +30.0 % (10.0 s -> 13.0 s, one run per side, p < 0.0001)");
}

TEST_CASE("strong scaling: what all ranks together spend more is lost, and where") {
  const Compared3 scales(sampled_runs({.ranks = 2}, 1, 3), sampled_runs({.ranks = 8, .waiting = 150}, 501, 3),
                         {.scaling = Scaling::Strong});
  REQUIRE(scales.found() == std::vector<std::string>{"wait (wait.cpp:90)"});
  const RunChanges& changes = scales.changes;
  CHECK(changes.workers_before == 2);
  CHECK(changes.workers_after == 8);
  CHECK(changes.total.exclusive.before == Approx(3).epsilon(0.1));
  CHECK(changes.total.exclusive.after == Approx(4.2).epsilon(0.1));
  CHECK(changes.rows[0].share == Approx(1.2 / 4.2).epsilon(0.1));
  std::vector<std::string> path;
  for (const uint32_t node : changes.path_of_loss)
    path.push_back(
        frame_name(scales.runs.database, scales.runs.tree.frames[scales.runs.tree.nodes[node].frame]));
  CHECK(path == std::vector<std::string>{"main thread", "main", "hot", "wait"});
  const std::string words = format_scaling(scales.runs, changes, Scaling::Strong);
  CHECK(words.starts_with("strong scaling from 2 to 8 ranks: 7"));
  CHECK(change_findings(scales.runs, changes, Scaling::Strong).front().kind == FindingKind::ScalingLoss);
}

TEST_CASE("weak scaling: each rank is to spend as much as before") {
  // Four times as many ranks have four times the work.
  const auto before = sampled_runs({.samples = 2000, .ranks = 2}, 1, 3);
  const auto after = sampled_runs({.samples = 8000, .ranks = 8}, 501, 3);
  const Compared3 even(before, after, {.scaling = Scaling::Weak});
  CHECK(even.found().empty());
  CHECK(even.changes.total.exclusive.before == Approx(8).epsilon(0.05));
  const Compared3 strong(before, after, {.scaling = Scaling::Strong});
  CHECK(strong.changes.total.is_significant());
  const Compared3 waits(before, sampled_runs({.samples = 8000, .ranks = 8, .waiting = 300}, 501, 3),
                        {.scaling = Scaling::Weak});
  CHECK(waits.found() == std::vector<std::string>{"wait (wait.cpp:90)"});
}
