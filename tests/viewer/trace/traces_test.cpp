#include "viewer/document/traces.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <QTest>
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/trace/index_file.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr int kTimeoutMs = 30'000;

struct Heard {
  explicit Heard(Traces& traces) {
    QObject::connect(&traces, &Traces::ready, [this] { is_ready = true; });
    QObject::connect(&traces, &Traces::not_ready, [this](const QString& text) { why = text; });
  }
  bool wait() const {
    return QTest::qWaitFor([this] { return is_ready || why; }, kTimeoutMs);
  }
  bool is_ready = false;
  std::optional<QString> why;
};

}  // namespace

TEST_CASE("the index of long traces is made in the background, kept, and made anew where it is damaged") {
  const test::DatabaseFolder folder(test::traced_database({kMinSegmentsKept + 1, 50}, 2));
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
  const auto open_again = [&] {
    Traces traces(database);
    Heard heard(traces);
    traces.want_index();
    REQUIRE(heard.wait());
    CHECK(heard.is_ready);
  };
  const auto written = std::filesystem::last_write_time(file);
  open_again();
  CHECK(std::filesystem::last_write_time(file) == written);
  // One bit in the middle, where entries are.
  std::string contents = test::read_bytes(file);
  char& byte = contents[contents.size() / 2];
  byte = static_cast<char>(byte ^ 4);
  test::write_bytes(file, contents);
  const std::atomic<bool> is_cancelled{false};
  CHECK(!open_index(std::make_shared<const MappedTraces>(database), 1, is_cancelled));
  open_again();
  CHECK(open_index(std::make_shared<const MappedTraces>(database), 1, is_cancelled));
}

TEST_CASE("what viewers that were killed left of an index is removed, what another one writes stays") {
  const test::DatabaseFolder folder(test::traced_database({kMinSegmentsKept + 1}, 2));
  const Database database = read_database(folder.path());
  const auto left = folder.path() / ".timeline.cache.0123abcd",
             former = folder.path() / "timeline.cache.writing-1",
             written = folder.path() / ".timeline.cache.4567abcd",
             other = folder.path() / ".timeline.cache.notes";
  for (const auto& file : {left, former, written, other}) test::write_bytes(file, "part");
  const int descriptor = ::open(written.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(descriptor, LOCK_EX) == 0);
  Traces traces(database);
  Heard heard(traces);
  traces.want_index();
  REQUIRE(heard.wait());
  ::close(descriptor);
  CHECK(std::filesystem::exists(folder.path() / kIndexFile));
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK_FALSE(std::filesystem::exists(former));
  CHECK(std::filesystem::exists(written));
  CHECK(std::filesystem::exists(other));
}

TEST_CASE("traces that go while they are indexed take the work with them") {
  const test::DatabaseFolder folder(test::traced_database({200'000}, 2));
  const Database database = read_database(folder.path());
  Traces traces(database);
  traces.want_index();
}

TEST_CASE("pages of traces are given back, and read again where they are needed") {
  constexpr size_t kRecords = 2'000'000, kBytes = kRecords * 12;
  const test::DatabaseFolder folder(test::traced_database({kRecords}, 8));
  const Database database = read_database(folder.path());
  Traces traces(database);
  Heard heard(traces);
  traces.want_index();
  REQUIRE(heard.wait());
  const auto read_all = [&] {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < traces.mapped().segments(0); ++i)
      sum += traces.mapped().time(0, i) + traces.mapped().context(0, i);
    return sum;
  };
  traces.give_back(0);
  const uint64_t before = resident_file_bytes();
  const uint64_t sum = read_all();
  REQUIRE(before > 0);
  CHECK(resident_file_bytes() > before + kBytes / 2);
  traces.give_back(UINT64_MAX);
  CHECK(resident_file_bytes() > before + kBytes / 2);
  traces.give_back(0);
  CHECK(resident_file_bytes() < before + kBytes / 2);
  CHECK(read_all() == sum);
}
