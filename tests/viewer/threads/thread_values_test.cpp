#include "viewer/threads/thread_values.h"

#include <catch2/catch.hpp>
#include <random>

#include "analysis/database/database.h"
#include "analysis/views/tree/view.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

// Threads with up to six nested calls of four functions, with recursion by chance.
Database calling(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  DatabaseBuilder b;
  for (const char* const name : {"a", "b", "c", "d"}) b.function(name, "work.cpp", "/home/me/team", 3);
  b.metric("CPUTIME", "sec");
  b.metric("CYCLES", "");
  for (int32_t t = 0; t < 4; ++t) {
    const uint32_t thread = b.thread(t);
    for (int paths = 0; paths < 30; ++paths) {
      std::vector<At> path;
      for (uint32_t depth = 1 + below(6); depth > 0; --depth)
        path.push_back({std::string(1, static_cast<char>('a' + below(4))), 1 + below(3)});
      b.spend(thread, path, 1 + below(100), below(2), below(2) ? "main thread" : "application thread");
    }
  }
  return b.build();
}

}  // namespace

TEST_CASE("a thread's values are those of the flat view of that thread alone") {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const Database database = calling(seed);
    for (const bool merged : {false, true}) {
      const CallTree tree = build_call_tree(database, select(database, {}, {}), merged);
      for (uint32_t profile = 0; profile < database.profiles.size(); ++profile) {
        Selection selection = tree.selection;
        selection.profiles = {profile};
        selection.every_profile = false;
        const CallTree alone = build_call_tree(database, selection, merged);
        const View rows = flat(alone, {});
        for (size_t m = 0; m < tree.metrics(); ++m) {
          const uint32_t metric = tree.selection.metrics[m];
          CHECK(thread_values(tree, metric, {}, CostKind::Inclusive)[profile] == Approx(alone.totals[m]));
          for (size_t row = 0; row < rows.rows.size(); ++row) {
            const std::string name = frame_name(database, alone.frames[rows.rows[row].frame]);
            uint32_t frame = kNone;
            for (uint32_t f = 0; f < tree.frames.size(); ++f)
              if (frame_name(database, tree.frames[f]) == name) frame = f;
            REQUIRE(frame != kNone);
            const Cost& cost = rows.costs[row * alone.metrics() + m];
            CAPTURE(seed, merged, profile, m, name);
            CHECK(thread_values(tree, metric, frame, CostKind::Inclusive)[profile] == Approx(cost.inclusive));
            CHECK(thread_values(tree, metric, frame, CostKind::Exclusive)[profile] == Approx(cost.exclusive));
          }
        }
      }
    }
  }
}

TEST_CASE("a thread's values are the same when they are read as they are asked for") {
  const DatabaseFolder folder(calling(4));
  const Database now = read_database(folder.path());
  const Database asked = read_database(folder.path(), ReadValues::WhenAskedFor);
  REQUIRE(asked.stored);
  for (const bool merged : {false, true}) {
    const CallTree tree = build_call_tree(now, select(now, {}, {}), merged);
    const CallTree same = build_call_tree(asked, select(asked, {}, {}), merged);
    REQUIRE(tree.frames.size() == same.frames.size());
    for (uint32_t metric = 0; metric < now.metrics.size(); ++metric) {
      CHECK(thread_values(same, metric, {}, CostKind::Inclusive) ==
            thread_values(tree, metric, {}, CostKind::Inclusive));
      for (const CostKind kind : {CostKind::Inclusive, CostKind::Exclusive})
        for (uint32_t frame = 0; frame < tree.frames.size(); ++frame)
          CHECK(thread_values(same, metric, frame, kind) == thread_values(tree, metric, frame, kind));
    }
  }
}

TEST_CASE("the distribution of values, and what is out of line") {
  const Distribution one = distribution({4, 1, 2, 3, 100});
  CHECK(one.minimum == 1);
  CHECK(one.first_quartile == 2);
  CHECK(one.median == 3);
  CHECK(one.third_quartile == 4);
  CHECK(one.maximum == 100);
  CHECK(one.mean == 22);
  CHECK(one.stddev == Approx(39.0128));
  CHECK(one.is_outlier(100));
  CHECK(!one.is_outlier(1));
}

TEST_CASE("threads that do nearly the same are not out of line") {
  CHECK(!distribution({100, 100, 100, 100, 101}).is_outlier(101));
  CHECK(distribution({100, 100, 100, 100, 110}).is_outlier(110));
  CHECK(distribution({}).maximum == 0);
}

TEST_CASE("a histogram has every value once") {
  const std::vector<double> values = {0, 1, 2, 3, 4, 10};
  const Distribution spread = distribution(values);
  CHECK(histogram(values, spread, 5) == std::vector<size_t>{2, 2, 1, 0, 1});
  CHECK(histogram({7, 7}, distribution({7, 7}), 3) == std::vector<size_t>{2, 0, 0});
}
