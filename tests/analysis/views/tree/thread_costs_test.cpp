#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/views/tree/view.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

// Three threads spend 1, 2 and 6 in work. In the second one, work also calls itself.
Database uneven() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  for (int32_t thread = 0; thread < 3; ++thread) b.thread(thread);
  b.spend(0, {{"main", 1}, {"work", 9}}, 1);
  b.spend(1, {{"main", 1}, {"work", 9}}, 0.5);
  b.spend(1, {{"main", 1}, {"work", 8}, {"work", 9}}, 1.5);
  b.spend(2, {{"main", 2}, {"work", 9}}, 6);
  b.spend(2, {{"main", 2}}, 1);
  return b.build();
}

void check(const Spread& spread, uint32_t count, double sum, double minimum, double mean, double maximum,
           double stddev) {
  CHECK(spread.count == count);
  CHECK(spread.sum == Approx(sum));
  CHECK(spread.minimum == Approx(minimum));
  CHECK(spread.mean() == Approx(mean));
  CHECK(spread.maximum == Approx(maximum));
  CHECK(spread.stddev() == Approx(stddev));
}

ThreadSpread of(const View& view, const CallTree& tree, const std::string& name) {
  for (size_t r = 0; r < view.rows.size(); ++r)
    if (frame_name(*tree.database, tree.frames[view.rows[r].frame]) == name) return view.threads[r];
  throw std::logic_error("no row " + name);
}

}  // namespace

TEST_CASE("statistics are over the threads in which a row occurs, for every view") {
  const Database database = uneven();
  const double deviation = std::sqrt((4.0 + 1 + 9) / 3);
  for (const bool merged : {false, true}) {
    CAPTURE(merged);
    const CallTree tree = build_call_tree(database, select(database, {}, {}), merged);
    check(of(flat(tree, {0, 0, true}), tree, "work").inclusive, 3, 9, 1, 3, 6, deviation);
    check(of(flat(tree, {0, 0, true}), tree, "work").exclusive, 3, 9, 1, 3, 6, deviation);
    check(of(bottom_up(tree, {0, 0, true}), tree, "work").exclusive, 3, 9, 1, 3, 6, deviation);
    check(of(top_down(tree, {0, 0, true}), tree, "work").inclusive, 3, 9, 1, 3, 6, deviation);
    check(of(top_down(tree, {0, 0, true}), tree, "main").exclusive, 3, 1, 0, 1.0 / 3, 1, std::sqrt(2.0 / 9));
  }
  const CallTree kept = build_call_tree(database, select(database, {}, {}), false);
  check(of(top_down(kept, {0, 0, true}), kept, "work").exclusive, 3, 7.5, 0.5, 2.5, 6, std::sqrt(18.5 / 3));
}

TEST_CASE("a thread filter narrows the statistics") {
  const Database database = uneven();
  const CallTree tree = build_call_tree(database, select(database, {}, {"1"}), false);
  check(of(flat(tree, {0, 0, true}), tree, "work").inclusive, 1, 2, 2, 2, 2, 0);
}
