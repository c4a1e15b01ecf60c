#include "analysis/database/stored_values.h"

#include <catch2/catch.hpp>

#include "analysis/database/database.h"
#include "tests/analysis/database/both_readings.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("Values that are asked for are those that are read at once") {
  const TemporaryDirectory folder;
  write_database(known_database(), folder.path() / "known");
  CHECK(difference_of_readings(folder.path() / "known") == "");
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    // More contexts than are read at once.
    write_database(random_database(seed, {.contexts = 2000, .profiles = 5, .metrics = 4, .records = 10}),
                   folder.path() / "random");
    CAPTURE(seed);
    CHECK(difference_of_readings(folder.path() / "random") == "");
    const Database asked = read_database(folder.path() / "random", ReadValues::WhenAskedFor);
    REQUIRE(asked.stored);
    CHECK(asked.stored->contexts() == 2000);
    CHECK(asked.stored->metrics() == 4);
    CHECK(asked.summaries.empty());
    for (const Profile& profile : asked.profiles) CHECK(profile.values.empty());
  }
}

TEST_CASE("A database without sums over its profiles is read at once") {
  if (!std::filesystem::exists(PROF_HPCTOOLKIT_SAMPLE)) {
    WARN("skipped: no HPCToolkit database at " PROF_HPCTOOLKIT_SAMPLE);
    return;
  }
  CHECK(difference_of_readings(PROF_HPCTOOLKIT_SAMPLE) == "");
}

TEST_CASE("A damaged value is refused when it is asked for") {
  const TemporaryDirectory folder;
  const std::filesystem::path directory = folder.path() / "database";
  write_database(random_database(3, {.contexts = 100, .profiles = 2, .metrics = 2, .records = 10}),
                 directory);
  const std::string whole = read_bytes(directory / "profile.db");
  // The values of the first profile begin after the header.
  std::string bytes = whole;
  for (size_t i = 0; i < 8; ++i) bytes[0x30 + 2 + i] = static_cast<char>(0xff);
  write_bytes(directory / "profile.db", bytes);
  const Database database = read_database(directory, ReadValues::WhenAskedFor);
  REQUIRE(database.stored);
  std::vector<ProfileValue> buffer;
  const std::string message =
      (directory / "profile.db").string() +
      ": damaged: a value is not a number; copy it again or analyze the measurements again";
  CHECK_THROWS_WITH(values_of(database, 0, buffer), message);
  CHECK_THROWS_WITH(database.stored->check_profiles(), message);
  CHECK_THROWS_WITH(read_database(directory), message);
  CHECK_NOTHROW(values_of(database, 1, buffer));
}

TEST_CASE("A file that is cut while its values are asked for is no crash") {
  const TemporaryDirectory folder;
  const std::filesystem::path directory = folder.path() / "database";
  write_database(known_database(), directory);
  const Database database = read_database(directory, ReadValues::WhenAskedFor);
  REQUIRE(database.stored);
  std::filesystem::resize_file(directory / "profile.db", 64);
  CHECK_THROWS_AS(database.stored->check_profiles(), DatabaseError);
  const std::vector<uint32_t> metrics = {0};
  CHECK_THROWS_AS(database.stored->costs(metrics), DatabaseError);
}

TEST_CASE("A database whose values are in its file is not written") {
  const TemporaryDirectory folder;
  write_database(known_database(), folder.path() / "first");
  const Database database = read_database(folder.path() / "first", ReadValues::WhenAskedFor);
  CHECK_THROWS_AS(write_database(database, folder.path() / "second"), DatabaseError);
}
