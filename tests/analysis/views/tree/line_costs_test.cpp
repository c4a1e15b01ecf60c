#include "analysis/views/tree/line_costs.h"

#include <catch2/catch.hpp>

#include "tests/report/database_builder.h"

using namespace prof;

namespace {

CallTree lines_tree_of(const Database& database) {
  return build_call_tree(database, select(database, {}, {}), false);
}

uint32_t file_named(const Database& database, const std::string& name) {
  for (uint32_t f = 0; f < database.files.size(); ++f)
    if (database.files[f].path.ends_with(name)) return f;
  return kNone;
}

}  // namespace

TEST_CASE("a line costs what all functions spend at it and call from it") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0);
  builder.function("main", "a.cpp", "app");
  builder.function("twice", "a.cpp", "app");
  builder.function("leaf", "b.cpp", "app");
  builder.spend(0, {{"main", 1}}, 2);
  builder.spend(0, {{"main", 1}, {"leaf", 9}}, 3);
  builder.spend(0, {{"main", 1}, {"twice", 1}}, 5);
  const Database database = builder.build();
  const CallTree tree = lines_tree_of(database);

  const std::vector<LineCost> lines = line_costs(tree, file_named(database, "a.cpp"), 0);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].line == 1);
  CHECK(lines[0].cost.exclusive == Approx(7));
  CHECK(lines[0].cost.inclusive == Approx(10));

  const std::vector<FileCost> files = file_costs(tree, 0);
  REQUIRE(files.size() == 2);
  CHECK(files[0].file == file_named(database, "a.cpp"));
  CHECK(files[0].exclusive == Approx(7));
  CHECK(files[1].exclusive == Approx(3));
}

TEST_CASE("a line that calls itself counts once") {
  test::DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.thread(0);
  builder.function("again", "a.cpp", "app");
  builder.spend(0, {{"again", 4}, {"again", 4}, {"again", 4}}, 1);
  const Database database = builder.build();
  const std::vector<LineCost> lines = line_costs(lines_tree_of(database), file_named(database, "a.cpp"), 0);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].cost.inclusive == Approx(1));
  CHECK(lines[0].cost.exclusive == Approx(1));
}
