#include "viewer/trace/index_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
#include "viewer/trace/checksum.h"
#include "viewer/trace/columns.h"
#include "viewer/trace/index_builder.h"

using namespace prof;
using namespace prof::viewer;

namespace fs = std::filesystem;

namespace {

struct Fixture {
  test::DatabaseFolder folder{test::traced_database({0, 3000, 700}, 3)};
  Database database = read_database(folder.path());
  std::shared_ptr<const MappedTraces> traces = std::make_shared<const MappedTraces>(database);
  fs::path file = folder.path() / kIndexFile;

  std::unique_ptr<const TraceIndex> build() const {
    BuildProgress progress;
    return build_index(traces, 2, progress, 0);
  }
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file without a name, so that thousands cost nothing.
Mapping mapping_of(const std::string& bytes) {
  const int file = memfd_create("index", MFD_CLOEXEC);
  REQUIRE(write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  Mapping mapping(file);
  close(file);
  return mapping;
}

void ask_everything(const TraceIndex& index) {
  const MappedTraces& traces = index.traces();
  const std::vector<uint32_t> keys(traces.contexts(), 0);
  const PixelScale scale(traces.begin_ns(), traces.end_ns(), 50);
  Columns columns;
  Times times(traces.contexts());
  for (size_t row = 0; row < traces.rows(); ++row) {
    index.add_times(row, traces.begin_ns() + 5, traces.end_ns() - 5, times);
    columns.fill(traces, &index, row, scale, keys, 1);
  }
}

}  // namespace

TEST_CASE("an index is kept beside the database and taken from there") {
  const Fixture fixture;
  CHECK(!open_index(fixture.traces));
  const auto built = fixture.build();
  REQUIRE(built);
  CHECK(fs::exists(fixture.file));
  const auto opened = open_index(fixture.traces);
  REQUIRE(opened);
  for (size_t row = 0; row < fixture.traces->rows(); ++row) {
    Times one(fixture.traces->contexts()), other(fixture.traces->contexts());
    built->add_times(row, 0, UINT64_MAX, one);
    opened->add_times(row, 0, UINT64_MAX, other);
    CHECK(one.by_context == other.by_context);
  }
  for (const auto& entry : fs::directory_iterator(fixture.folder.path()))
    CHECK(entry.path().filename().string().find("writing") == std::string::npos);
}

TEST_CASE("an index of another database, version or time is not taken") {
  const Fixture fixture;
  REQUIRE(fixture.build());
  const std::string good = bytes_of(fixture.file);
  SECTION("trace.db was written again") {
    const fs::path trace = fixture.folder.path() / "trace.db";
    fs::last_write_time(trace, fs::last_write_time(trace) + std::chrono::seconds(1));
    CHECK(!open_index(fixture.traces));
  }
  SECTION("another database's") {
    const Fixture other;
    fs::copy_file(fixture.file, other.file);
    CHECK(!open_index(other.traces));
    CHECK(other.build());
    CHECK(open_index(other.traces));
  }
  SECTION("cut off, or longer") {
    for (const size_t size :
         {size_t{0}, size_t{50}, size_t{128}, good.size() / 2, good.size() - 1, good.size() + 8}) {
      fs::resize_file(fixture.file, size);
      CHECK(!open_index(fixture.traces));
    }
  }
  SECTION("another version") {
    std::string bytes = good;
    ++bytes[8];
    test::write_bytes(fixture.file, bytes);
    CHECK(!open_index(fixture.traces));
  }
}

TEST_CASE("a damaged index is refused, or does no harm") {
  const Fixture fixture;
  REQUIRE(fixture.build());
  const std::string good = bytes_of(fixture.file);
  IndexHeader header;
  std::memcpy(&header, good.data(), sizeof header);
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = good;
    const size_t begin = i % 2 == 0 ? header.tables - 2000 : sizeof header;  // tables, or anywhere
    for (size_t changes = 1 + random() % 4; changes > 0; --changes)
      bytes[begin + random() % (bytes.size() - begin)] = static_cast<char>(random());
    if (const auto index = open_index(fixture.traces, mapping_of(bytes)))
      ask_everything(*index);
    else
      ++refused;
  }
  CHECK(refused > 0);
  // The same with a checksum that is right: then bounds alone protect.
  for (int i = 0; i < 1000; ++i) {
    std::string bytes = good;
    const size_t at = header.tables - 1 - random() % 2000;
    bytes[at] = static_cast<char>(random());
    Checksum checksum;
    checksum.add(bytes.data() + header.tables, fixture.traces->rows() * sizeof(uint64_t));
    for (size_t row = 0; row < fixture.traces->rows(); ++row) {
      uint64_t table;
      std::memcpy(&table, bytes.data() + header.tables + row * sizeof table, sizeof table);
      for (const uint64_t count : blocks_of_levels(fixture.traces->segments(row))) {
        checksum.add(bytes.data() + table, count * sizeof(Block));
        table += count * sizeof(Block);
      }
    }
    header.tables_checksum = checksum.value();
    std::memcpy(bytes.data(), &header, sizeof header);
    if (const auto index = open_index(fixture.traces, mapping_of(bytes))) ask_everything(*index);
  }
}

TEST_CASE("where the folder cannot be written to, the index is in the user's folder for caches") {
  const Fixture fixture;
  const std::vector<fs::path> places = places_of_index(*fixture.traces);
  REQUIRE(places.size() == 2);
  // In the way of the file that is written first, also for root.
  fs::create_directory(places[0].string() + ".writing-" + std::to_string(getpid()));
  REQUIRE(fixture.build());
  CHECK(!fs::exists(places[0]));
  CHECK(fs::exists(places[1]));
  CHECK(open_index(fixture.traces));
}

TEST_CASE("a build that is cancelled leaves nothing") {
  const Fixture fixture;
  BuildProgress progress;
  progress.is_cancelled = true;
  CHECK(!build_index(fixture.traces, 2, progress, 0));
  CHECK(!fs::exists(fixture.file));
}

TEST_CASE("a trace that runs backwards is told by the file's name") {
  Fixture fixture;
  const fs::path trace = fixture.folder.path() / "trace.db";
  std::string bytes = bytes_of(trace);
  // The middle of the long trace: a time far back.
  const uint64_t long_ago = 5;
  std::memcpy(bytes.data() + 128 + 12 * 1500, &long_ago, sizeof long_ago);
  test::write_bytes(trace, bytes);
  fixture.database = read_database(fixture.folder.path());
  fixture.traces = std::make_shared<const MappedTraces>(fixture.database);
  CHECK_THROWS_WITH(fixture.build(), Catch::Contains("trace.db") && Catch::Contains("backwards"));
}
