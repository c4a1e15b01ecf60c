// A database that HPCToolkit wrote. It is not part of the project. If it is missing, the test reports that.

#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "analysis/database/database.h"
#include "analysis/database/summaries.h"
#include "tests/analysis/database/comparison.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using namespace prof::test;

namespace {

const std::filesystem::path kSample = PROF_HPCTOOLKIT_SAMPLE;

bool sample_is_there() {
  if (std::filesystem::exists(kSample)) return true;
  std::cout << "skipped: " << kSample << " is not there\n";
  return false;
}

// Returns the number of contexts below an entry point, including itself.
size_t subtree_size(const Database& database, uint32_t entry) {
  std::vector<bool> inside(database.contexts.size());
  size_t count = 0;
  for (uint32_t i = 0; i < database.contexts.size(); ++i) {
    const uint32_t parent = database.contexts[i].parent;
    inside[i] = i == entry || (parent != kNone && inside[parent]);
    count += inside[i];
  }
  return count;
}

uint32_t entry(const Database& database, const std::string& name) {
  for (uint32_t i = 0; i < database.contexts.size(); ++i) {
    if (database.contexts[i].kind == ContextKind::Entry && database.contexts[i].entry == name) return i;
  }
  return kNone;
}

}  // namespace

TEST_CASE("HPCToolkit's database is read with its contexts, ranks and times") {
  if (!sample_is_there()) return;
  const Database database = read_database(kSample);
  CHECK(database.title == "cpi");
  REQUIRE(database.metrics.size() == 1);
  CHECK(database.metrics[0].name == "CPUTIME");
  CHECK(database.metrics[0].unit == "sec");
  CHECK(database.contexts.size() == 205);
  CHECK(database.profiles.size() == 16);
  CHECK(database.profiles[0].id.rank == 1);
  CHECK(database.profiles[0].id.thread == 0);

  const uint32_t main_thread = entry(database, "main thread");
  REQUIRE(main_thread != kNone);
  CHECK(subtree_size(database, main_thread) == 182);
  const Summary& root = database.summary(0, main_thread);
  CHECK(root.sum.inclusive == Approx(0.281820).margin(5e-7));
  const uint32_t threads = entry(database, "application thread");
  REQUIRE(threads != kNone);
  CHECK(database.summary(0, threads).sum.inclusive == Approx(0.044155).margin(5e-7));
}

TEST_CASE("Statistics that HPCToolkit did not write come from its profiles") {
  if (!sample_is_there()) return;
  const Database database = read_database(kSample);
  const Summary& root = database.summary(0, entry(database, "main thread"));
  CHECK(root.profiles == 4);
  CHECK(root.minimum.inclusive == Approx(0.016902));
  CHECK(root.maximum.inclusive == Approx(0.089614));
  CHECK(mean(root, &Values::inclusive) == Approx(0.070455));
}

TEST_CASE("HPCToolkit's database survives being written by us") {
  if (!sample_is_there()) return;
  const TemporaryDirectory directory;
  const Database database = read_database(kSample);
  write_database(database, directory.path() / "database");
  check_equal(read_database(directory.path() / "database"), database);
}
