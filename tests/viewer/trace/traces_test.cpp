#include "viewer/document/traces.h"

#include <QTest>
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/trace/index_file.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr int kLongestMs = 30'000;

struct Heard {
  explicit Heard(Traces& traces) {
    QObject::connect(&traces, &Traces::ready, [this] { is_ready = true; });
    QObject::connect(&traces, &Traces::not_ready, [this](const QString& text) { why = text; });
  }
  bool wait() const {
    return QTest::qWaitFor([this] { return is_ready || why; }, kLongestMs);
  }
  bool is_ready = false;
  std::optional<QString> why;
};

}  // namespace

TEST_CASE("the index of long traces is made in the background, kept, and opened at once") {
  const test::DatabaseFolder folder(test::traced_database({kLeastSegmentsKept + 1, 50}, 2));
  const Database database = read_database(folder.path());
  const auto file = folder.path() / kIndexFile;
  {
    Traces traces(database);
    Heard heard(traces);
    traces.want_index();
    CHECK(traces.is_building());
    traces.cancel();
    REQUIRE(heard.wait());
    if (heard.why) {
      CHECK(heard.why->isEmpty());
      CHECK(!traces.index());
      CHECK(!std::filesystem::exists(file));
    }
    CHECK(!traces.is_building());
  }
  {
    Traces traces(database);
    Heard heard(traces);
    traces.want_index();
    REQUIRE(heard.wait());
    CHECK(heard.is_ready);
    CHECK(traces.index());
    CHECK(std::filesystem::exists(file));
  }
  Traces traces(database);
  Heard heard(traces);
  traces.want_index();
  CHECK(heard.is_ready);
  CHECK(!traces.is_building());
}

TEST_CASE("traces that go while they are indexed take the work with them") {
  const test::DatabaseFolder folder(test::traced_database({200'000}, 2));
  const Database database = read_database(folder.path());
  Traces traces(database);
  traces.want_index();
}
