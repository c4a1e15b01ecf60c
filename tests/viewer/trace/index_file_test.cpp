#include "viewer/trace/index_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

#include "tests/viewer/database_folder.h"
#include "tests/viewer/trace/random_traces.h"
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

const std::atomic<bool> kNotCancelled{false};

std::unique_ptr<const TraceIndex> open(const std::shared_ptr<const MappedTraces>& traces) {
  return open_index(traces, 2, kNotCancelled);
}
std::unique_ptr<const TraceIndex> open(const std::shared_ptr<const MappedTraces>& traces, Mapping file) {
  return open_index(traces, std::move(file), 2, kNotCancelled);
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file without a name, so that thousands of them cost nothing.
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
  CHECK(!open(fixture.traces));
  const auto built = fixture.build();
  REQUIRE(built);
  CHECK(fs::exists(fixture.file));
  const auto opened = open(fixture.traces);
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
    CHECK(!open(fixture.traces));
  }
  SECTION("another database's") {
    const Fixture other;
    fs::copy_file(fixture.file, other.file);
    CHECK(!open(other.traces));
    CHECK(other.build());
    CHECK(open(other.traces));
  }
  SECTION("cut off, or longer") {
    for (const size_t size :
         {size_t{0}, size_t{50}, size_t{128}, good.size() / 2, good.size() - 1, good.size() + 8}) {
      fs::resize_file(fixture.file, size);
      CHECK(!open(fixture.traces));
    }
  }
  SECTION("another version") {
    std::string bytes = good;
    ++bytes[8];
    test::write_bytes(fixture.file, bytes);
    CHECK(!open(fixture.traces));
  }
}

TEST_CASE("an index in which one bit is wrong is refused") {
  const Fixture fixture;
  REQUIRE(fixture.build());
  std::string bytes = bytes_of(fixture.file);
  IndexHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<size_t> places(sizeof header);  // the whole header, and some of the rest
  std::iota(places.begin(), places.end(), 0);
  std::mt19937 random(5);
  const auto add_some = [&](size_t begin, size_t end) {
    for (int i = 0; i < 100; ++i) places.push_back(begin + random() % (end - begin));
    places.push_back(end - 1);
  };
  add_some(sizeof header, 2000);                  // entries
  add_some(sizeof header, header.tables - 2000);  // entries, or space reserved for them
  add_some(header.tables - 2000, header.tables);  // blocks
  add_some(header.tables, bytes.size());
  REQUIRE(open(fixture.traces, mapping_of(bytes)));
  for (const size_t place : places) {
    const auto bit = static_cast<char>(1u << random() % 8);
    bytes[place] = static_cast<char>(bytes[place] ^ bit);
    CAPTURE(place);
    CHECK(!open(fixture.traces, mapping_of(bytes)));
    bytes[place] = static_cast<char>(bytes[place] ^ bit);
  }
}

TEST_CASE("an index with any contents whose checksum is right does no harm") {
  const Fixture fixture;
  REQUIRE(fixture.build());
  const std::string good = bytes_of(fixture.file);
  IndexHeader header;
  std::memcpy(&header, good.data(), sizeof header);
  std::mt19937 random(5);
  int taken = 0;
  for (int i = 0; i < 500; ++i) {
    std::string bytes = good;
    const size_t begin = i % 2 == 0 ? header.tables - 2000 : sizeof header;
    const size_t end = i % 2 == 0 ? bytes.size() : 2000;
    for (size_t changes = 1 + random() % 4; changes > 0; --changes)
      bytes[begin + random() % (end - begin)] = static_cast<char>(random());
    header.checksum = contents_checksum(mapping_of(bytes), 1, kNotCancelled);
    std::memcpy(bytes.data(), &header, sizeof header);
    if (const auto index = open(fixture.traces, mapping_of(bytes))) {
      ask_everything(*index);
      ++taken;
    }
  }
  CHECK(taken > 0);
}

TEST_CASE("blocks that contradict the records in their times are not painted behind the last pixel") {
  const Fixture fixture;
  REQUIRE(fixture.build());
  std::string bytes = bytes_of(fixture.file);
  IndexHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  constexpr size_t kRow = 1;  // the long one
  uint64_t at;
  std::memcpy(&at, bytes.data() + header.tables + kRow * sizeof at, sizeof at);
  const uint64_t begin = fixture.traces->begin_ns(kRow);
  for (uint64_t block = 1; block < 4; ++block) {  // the records of the first one extend far beyond them
    const uint64_t wrong = begin + 5 * block;
    std::memcpy(bytes.data() + at + block * sizeof(Block), &wrong, sizeof wrong);
  }
  header.checksum = contents_checksum(mapping_of(bytes), 1, kNotCancelled);
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto index = open(fixture.traces, mapping_of(bytes));
  REQUIRE(index);
  const PixelScale scale(begin + 1, fixture.traces->time(kRow, 200), 7);
  const std::vector<uint32_t> keys(fixture.traces->contexts(), 0);
  Columns columns;
  columns.fill(*fixture.traces, index.get(), kRow, scale, keys, 1);
  for (int x = 0; x < scale.pixels(); ++x) CHECK(!columns.pixel(x).empty());
}

TEST_CASE("where the folder cannot be written to, the index is in the user's folder for caches") {
  const Fixture fixture;
  const std::vector<fs::path> places = places_of_index(*fixture.traces);
  REQUIRE(places.size() == 2);
  // Root may write everywhere, but does not write to another user's folder.
  constexpr uid_t kNobody = 65534;
  const std::string folder = places[0].parent_path().string();
  REQUIRE((geteuid() == 0 ? chown(folder.c_str(), kNobody, kNobody) : chmod(folder.c_str(), 0555)) == 0);
  REQUIRE(fixture.build());
  chmod(folder.c_str(), 0755);
  CHECK(!fs::exists(places[0]));
  CHECK(fs::exists(places[1]));
  CHECK(open(fixture.traces));
}

TEST_CASE("a build that is cancelled leaves nothing") {
  const Fixture fixture;
  BuildProgress progress;
  progress.is_cancelled = true;
  CHECK(!build_index(fixture.traces, 2, progress, 0));
  CHECK(!fs::exists(fixture.file));
}

TEST_CASE("a trace that runs backwards is reported by the file's name") {
  Fixture fixture;
  const fs::path trace = fixture.folder.path() / "trace.db";
  std::string bytes = bytes_of(trace);
  // The middle of the long trace gets a time far in the past.
  const uint64_t long_ago = 5;
  std::memcpy(bytes.data() + 128 + 12 * 1500, &long_ago, sizeof long_ago);
  test::write_bytes(trace, bytes);
  fixture.database = read_database(fixture.folder.path());
  fixture.traces = std::make_shared<const MappedTraces>(fixture.database);
  CHECK_THROWS_WITH(fixture.build(), Catch::Contains("trace.db") && Catch::Contains("backwards"));
}
