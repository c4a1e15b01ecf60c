#include "analysis/findings/deadlocks.h"

#include <catch2/catch.hpp>

#include "tests/report/locked.h"

using namespace prof;
using namespace prof::test;

namespace {

std::vector<Finding> deadlocks_of(const Database& database) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  return deadlock_findings(tree, run_summary(database));
}

}  // namespace

TEST_CASE("threads that wait for each other are one deadlock, with what each waits for and who has it") {
  const std::vector<Finding> found = deadlocks_of(deadlocked());
  REQUIRE(found.size() == 1);
  const Finding& deadlock = found.front();
  CHECK(deadlock.kind == FindingKind::Deadlock);
  CHECK(deadlock.id == deadlock_id(1));
  CHECK(deadlock.severity == Severity::High);
  CHECK(deadlock.sentence.starts_with("Deadlock: 2 threads waited for each other's locks"));
  CHECK(deadlock.sentence.find("thread 11 (a) waited for first") != std::string::npos);
  CHECK(deadlock.sentence.find("thread 12 (a) waited for second") != std::string::npos);
  CHECK(deadlock.sentence.find("other in") == std::string::npos);  // a thread that waits for neither
  CHECK(deadlock.contexts.size() == 2);
  CHECK(deadlock.values.at("threads") == 2);
  CHECK_FALSE(deadlock.advice.empty());
}

TEST_CASE("a deadlock costs all of the waiting, and saves no more") {
  const Finding deadlock = deadlocks_of(deadlocked()).front();
  REQUIRE(deadlock.cost);
  CHECK(deadlock.cost->value == Approx(2));
  REQUIRE(deadlock.saving);
  CHECK(deadlock.saving->low_s == 0);
  CHECK(deadlock.saving->high_s == Approx(2));
  CHECK(deadlock.saving->is_bound);
}

TEST_CASE("threads that wait for a lock, but not for each other, are no deadlock") {
  Database database = deadlocked();
  nlohmann::json run = run_of(database);
  for (nlohmann::json& wait : run["locks"]["open"]) wait["deadlock"] = 0;
  set_run(database, run);
  CHECK(deadlocks_of(database).empty());
  CHECK(deadlocks_of(locked()).empty());
}
