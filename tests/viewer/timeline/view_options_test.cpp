#include "viewer/options/view_options.h"

#include <CLI/CLI.hpp>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/document/document.h"
#include "viewer/document/traces.h"
#include "viewer/window/choose.h"

using namespace prof;
using namespace prof::viewer;

TEST_CASE("a time is two rising seconds") {
  REQUIRE(time_of("1.5..2"));
  CHECK(time_of("1.5..2")->begin == 1.5);
  CHECK(time_of("1.5..2")->end == 2);
  for (const char* const wrong :
       {"", "1", "..", "1..", "..2", "2..1", "1..1", "-1..2", "1..2s", "0..inf", "nan..1"})
    CHECK(!time_of(wrong));
}

TEST_CASE("options survive their way to prof-viewer") {
  ViewOptions options, again;
  options.database = "db";
  options.time = "0.5..1";
  options.depth = 3;
  std::vector<std::string> arguments = arguments_of(options);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  CLI::App command;
  add_view_options(command, again);
  command.parse(arguments);
  CHECK(again.time == "0.5..1");
  CHECK(again.depth == 3);
  CHECK(again.database == "db");
}

TEST_CASE("a time outside the run, or of a run without traces, is reported") {
  const test::DatabaseFolder folder(test::traced_database({1000}, 1));
  Document document(folder.path());
  ViewOptions options;
  options.time = "0..0.1";
  choose(document, options);
  REQUIRE(document.shown_time());
  CHECK(document.shown_time()->begin_ns == document.traces().mapped().begin_ns());
  CHECK(document.shown_time()->ns() == 100'000'000);
  CHECK(document.chosen_time() == document.shown_time());  // on all pages
  REQUIRE(QTest::qWaitFor([&] { return !document.is_time_awaited(); }, 20'000));
  CHECK(document.tree().metric(0).name == "TRACED_TIME");
  options.time = "100000..100001";
  CHECK_THROWS_WITH(choose(document, options),
                    Catch::StartsWith("--time 100000..100001: the traces cover only"));
  Database none = test::traced_database({1000}, 1);
  none.traces.clear();
  const test::DatabaseFolder without(none);
  Document other(without.path());
  CHECK_THROWS_WITH(choose(other, options), Catch::Contains("--trace"));
}
