#include "analysis/views/tree/selection.h"

#include <catch2/catch.hpp>

#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

Database ranks() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.metric("cycles", "");
  b.metric("faults", "");
  for (int32_t rank = 0; rank < 2; ++rank)
    for (int32_t thread = 0; thread < 2; ++thread)
      b.spend(b.thread(thread, thread == 0 ? "main" : "pool-worker", rank), {{"f", 1}},
              rank * 10 + thread + 1, 1);
  return b.build();
}

using Indices = std::vector<uint32_t>;

SelectionFailure failure_of(const Database& database, const std::vector<std::string>& metrics,
                            const std::vector<std::string>& threads) {
  try {
    select(database, metrics, threads);
  } catch (const SelectionError& error) {
    return error.failure();
  }
  throw std::logic_error("the selection did not fail");
}

}  // namespace

TEST_CASE("threads are selected by index, by rank and index, by name, and by pattern") {
  const Database database = ranks();
  CHECK(select(database, {}, {}).profiles == Indices{0, 1, 2, 3});
  CHECK(select(database, {}, {"1"}).profiles == Indices{1, 3});
  CHECK(select(database, {}, {"1.0"}).profiles == Indices{2});
  CHECK(select(database, {}, {"0.*"}).profiles == Indices{0, 1});
  CHECK(select(database, {}, {"pool-*"}).profiles == Indices{1, 3});
  CHECK(select(database, {}, {"main", "1.1"}).profiles == Indices{0, 2, 3});
}

TEST_CASE("without a rank the process takes its place") {
  DatabaseBuilder b;
  b.thread(3);
  CHECK(select(b.database, {}, {"100.3"}).profiles == Indices{0});
  CHECK(thread_label(b.database, 0) == "100.3");
}

TEST_CASE("metrics are selected by name in the order given; by default those that were measured") {
  const Database database = ranks();
  CHECK(select(database, {}, {}).metrics == Indices{1});
  CHECK(select(database, {"faults", "CPUTIME", "faults"}, {}).metrics == Indices{2, 0});
  CHECK(select(database, {"cputime"}, {}).metrics == Indices{0});
}

TEST_CASE("what is not there is refused in one line that names what is") {
  const Database database = ranks();
  CHECK(failure_of(database, {"cache-misses"}, {}) == SelectionFailure::UnknownMetric);
  CHECK_THROWS_WITH(select(database, {"cache-misses"}, {}),
                    "no metric cache-misses in this database; available: CPUTIME, cycles, faults");
  CHECK(failure_of(database, {}, {"main", "7"}) == SelectionFailure::UnknownThread);
  CHECK_THROWS_WITH(
      select(database, {}, {"7"}),
      "no thread 7 in this database; available: 0.0 main, 0.1 pool-worker, 1.0 main, 1.1 pool-worker");
  CHECK_THROWS_WITH(select(Database{}, {}, {"0"}), "no thread 0 in this database; available: none");
}

TEST_CASE("costs of some threads are summed from their own values") {
  const Database database = ranks();
  const auto total = [&](const std::vector<std::string>& threads) {
    return context_costs(database, select(database, {"cycles"}, threads))[0][0].inclusive;
  };
  CHECK(total({}) == 1 + 2 + 11 + 12);
  CHECK(total({"1.*"}) == 11 + 12);
  CHECK(total({"main"}) == 1 + 11);
}

TEST_CASE("a database without summaries is summed from its profiles") {
  Database database = ranks();
  database.summaries.clear();
  CHECK(context_costs(database, select(database, {}, {}))[0][0].inclusive == 1 + 2 + 11 + 12);
}
