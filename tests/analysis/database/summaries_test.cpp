#include "analysis/database/summaries.h"

#include <catch2/catch.hpp>

#include "analysis/database/database.h"
#include "analysis/database/lex_aware.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using namespace prof::test;

namespace {

Database three_threads(double a, double b, double c) {
  Database database;
  database.contexts.resize(1);
  database.contexts[0].kind = ContextKind::Entry;
  database.metrics = {{"CPUTIME", "sec", ""}};
  for (const double cost : {a, b, c}) database.profiles.push_back({{}, {{0, 0, {cost / 2, cost, 0}}}, 0});
  return database;
}

}  // namespace

TEST_CASE("Sum, mean, extremes and deviation over threads") {
  Database database = three_threads(1, 4, 7);
  database.summaries = summarize(database);
  const Summary& summary = database.summary(0, 0);
  CHECK(summary.profiles == 3);
  CHECK(summary.sum.inclusive == 12);
  CHECK(summary.minimum.inclusive == 1);
  CHECK(summary.maximum.exclusive == 3.5);
  CHECK(mean(summary, &Values::inclusive) == 4);
  CHECK(standard_deviation(summary, &Values::inclusive) == Approx(2.449489743));
  CHECK(standard_deviation(summary, &Values::exclusive) == Approx(1.224744871));
  CHECK(mean(Summary{}, &Values::inclusive) == 0);
}

TEST_CASE("Equal values do not deviate, whatever rounding does") {
  Database database = three_threads(0.1, 0.1, 0.1);
  database.summaries = summarize(database);
  CHECK(standard_deviation(database.summary(0, 0), &Values::inclusive) == Approx(0).margin(1e-8));
}

TEST_CASE("A thread in which a context does not occur does not count for it") {
  const Database database = known_database();
  CHECK(database.summary(0, 3).profiles == 1);
  CHECK(database.summary(0, 3).minimum.inclusive == 4);
  CHECK(database.summary(1, 11).profiles == 0);
}

TEST_CASE("Summaries are computed when the writer gets none") {
  const TemporaryDirectory directory;
  Database database = known_database();
  const std::vector<Summary> expected = database.summaries;
  database.summaries.clear();
  write_database(database, directory.path() / "database");
  CHECK((read_database(directory.path() / "database").summaries == expected));
}

TEST_CASE("A loop's lexical cost leaves out the loops inside it") {
  const Database database = known_database();
  LexAware lex_aware(database);
  for (const Profile& profile : database.profiles)
    lex_aware.add(profile.values, lex_aware.of(profile.values));
  // The loop at line 33 contains line 34 (1 s of its own) and the loop at line 35 (2 s).
  CHECK(lex_aware.sum(0, 4, database.summary(0, 4)) == 1);
  CHECK(lex_aware.sum(0, 8, database.summary(0, 8)) == 2);
  CHECK(lex_aware.sum(1, 4, database.summary(1, 4)) == 0.25);
  CHECK(lex_aware.sum(0, 3, database.summary(0, 3)) == 3);
}
