// Unmodified files that other profilers wrote. data/README.md describes how they were made.

#include <catch2/catch.hpp>

#include "tests/analysis/import/imported.h"

using namespace prof;
using namespace prof::test;

namespace {

Import import_recorded(const char* name) {
  ImportOptions options;
  options.open_modules = false;  // the modules that they name may be anything here
  return import_file(std::filesystem::path(IMPORT_DATA) / name, options);
}

}  // namespace

TEST_CASE("a compressed recording of perf 6.1 has the sums that perf script shows") {
  const Import import = import_recorded("perf-6.1-compressed.data");
  CHECK(import.warnings.empty());
  const Database& database = import.database;
  REQUIRE(database.metrics.size() == 2);
  CHECK(database.metrics[0].name == "cpu-clock");
  CHECK(total(database, 0) == Approx(0.487437125).epsilon(1e-12));
  CHECK(database.metrics[1].name == "page-faults");
  CHECK(total(database, 1) == 8570);
  uint64_t samples = 0;
  for (const Profile& profile : database.profiles) samples += profile.samples;
  CHECK(samples == 97 + 11);
}
