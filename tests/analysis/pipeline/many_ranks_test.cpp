// Measurements that are read piece by piece: the result does not depend on how they are divided.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "analysis/analyze/run_analyze.h"
#include "analysis/database/database.h"
#include "hpcrun/measurement/container_writer.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
namespace fs = std::filesystem;

hpcrun::ProcessInfo info_of_rank(int rank) {
  hpcrun::ProcessInfo info = process_info();
  info.pid = 1000 + rank;
  info.rank = rank;
  return info;
}

// Each rank reaches the call paths in an order of its own, and two of three ranks have a second thread.
void write_rank(const fs::path& path, int rank, const fs::path& module) {
  const FixturePlaces places = fixture_places();
  Recorder recorder(path, info_of_rank(rank));
  describe(recorder.file, module);
  for (uint32_t index = 0; index < (rank % 3 == 0 ? 1u : 2u); ++index) {
    recorder.file.write_thread_start(index, 1000 + rank, kStartMonotonic, "app");
    RecordedThread& thread = recorder.add_thread();
    std::vector<std::vector<uint64_t>> paths = {{places.outer},
                                                {places.outer, places.inlined},
                                                {places.outer, places.plain},
                                                {places.plain},
                                                {places.plain, places.outer, places.inlined}};
    std::ranges::rotate(paths, paths.begin() + (rank + index) % 5);
    if (rank % 7 == 0) paths.pop_back();
    for (size_t i = 0; i < paths.size(); ++i) {
      sample(thread, paths[i], kTime, (1 + rank % 11 + i) * kMillisecond / 3);
      if (i % 2 == 0) sample(thread, paths[i], kMisses, 1 + static_cast<uint64_t>(rank));
    }
    for (uint32_t i = 0; i < 20; ++i)
      REQUIRE(thread.trace.append(kStartMonotonic + (i + uint64_t{1}) * kMillisecond, 1 + i % 3));
  }
  recorder.finish();
}

class Job {
 public:
  // Creates ranks in two directories.
  explicit Job(int ranks) {
    for (const fs::path& part : parts()) fs::create_directory(part);
    for (int rank = 0; rank < ranks; ++rank)
      write_rank(parts()[static_cast<size_t>(rank % 2)] / (std::to_string(ranks - rank) + ".prof"), rank,
                 fixture_module());
  }
  std::vector<fs::path> parts() const { return {directory_ / "a", directory_ / "b"}; }
  fs::path operator/(const std::string& name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_same_bytes(const fs::path& database, const fs::path& expected) {
  for (const char* file :
       {"meta.db", "profile.db", "cct.db", "trace.db", "run.json", "instructions.sqlite"}) {
    INFO(database << " " << file);
    CHECK(contents(database / file).size() > 100);
    CHECK((contents(database / file) == contents(expected / file)));
  }
}

std::vector<std::string> paths(const Database& database) {
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < database.contexts.size(); ++i) paths.push_back(path_of(database, i));
  return paths;
}

bool near(const Values& a, const Values& b) {
  const auto same = [](double x, double y) { return std::abs(x - y) <= 1e-12 * std::max(std::abs(x), 1.0); };
  return same(a.exclusive, b.exclusive) && same(a.inclusive, b.inclusive) && same(a.point, b.point);
}

}  // namespace

TEST_CASE("A database does not depend on threads, on memory, or on the order of directories") {
  const Job job(400);  // more profiles than groups that are summed up
  AnalyzeOptions options;
  options.copy_sources = false;
  run_analyze(job.parts(), job / "one", options);
  options.jobs = 3;
  run_analyze(job.parts(), job / "threads", options);
  check_same_bytes(job / "threads", job / "one");
  options.kept_bytes = 0;
  run_analyze(job.parts(), job / "memory", options);
  check_same_bytes(job / "memory", job / "one");
  std::vector<fs::path> parts = job.parts();
  std::ranges::reverse(parts);
  run_analyze(parts, job / "order", options);
  check_same_bytes(job / "order", job / "one");
}

TEST_CASE("A database of containers is that of the files in them") {
  const Job job(60);
  AnalyzeOptions options;
  options.copy_sources = false;
  run_analyze(job.parts(), job / "files", options);
  const fs::path packed = job / "packed";
  fs::create_directory(packed);
  for (const fs::path& part : job.parts()) {
    const fs::path container = packed / (part.filename().string() + ".ranks");
    ContainerWriter::create(container, {});
    ContainerWriter writer(container, 0);
    for (const fs::directory_entry& file : fs::directory_iterator(part)) writer.add(file.path());
  }
  run_analyze({packed}, job / "containers", options);
  check_same_bytes(job / "containers", job / "files");
  options.kept_bytes = 0;  // all are read again
  run_analyze({packed}, job / "again", options);
  check_same_bytes(job / "again", job / "files");

  // Files that were copied there as well count once.
  for (const fs::directory_entry& file : fs::directory_iterator(job.parts()[0])) fs::copy(file, packed);
  run_analyze({packed}, job / "copied", options);
  check_same_bytes(job / "copied", job / "files");
}

TEST_CASE("A member whose bytes are others is left out and named, and all others are analyzed") {
  const Job job(4);
  const fs::path packed = job / "packed", container = packed / "node.ranks";
  fs::create_directory(packed);
  ContainerWriter::create(container, {});
  std::vector<fs::path> files;
  for (const fs::path& part : job.parts())
    for (const fs::directory_entry& file : fs::directory_iterator(part)) files.push_back(file.path());
  std::ranges::sort(files);
  ContainerWriter writer(container, 0);
  for (const fs::path& file : files) writer.add(file);
  ContainerReader reader(container);
  reader.read_on();
  REQUIRE(reader.members().size() == 4);
  const StoredFile& second = reader.members()[1];
  std::fstream(container).seekp(static_cast<std::streamoff>(second.offset + second.bytes / 2)).put('x');
  const Analysis analysis = analyze({packed}, {});
  std::set<int32_t> ranks;
  for (const Profile& profile : analysis.database.profiles) ranks.insert(profile.id.rank);
  CHECK(ranks.size() == 3);
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0] ==
        second.path.string() + ": damaged: its bytes in the container differ from those added; left out");
}

TEST_CASE("Values that are written as they are computed are those that are kept") {
  const Job job(30);
  AnalyzeOptions options;
  options.copy_sources = false;
  const Database kept = analyze(job.parts(), options).database;
  options.kept_bytes = 0;
  run_analyze(job.parts(), job / "database", options);
  const Database read = read_database(job / "database");
  CHECK(paths(read) == paths(kept));
  CHECK(read.functions == kept.functions);
  REQUIRE(read.profiles.size() == 50);
  CHECK(read.profiles == kept.profiles);
  REQUIRE(read.summaries.size() == kept.summaries.size());
  for (size_t i = 0; i < read.summaries.size(); ++i) {
    CHECK(read.summaries[i].profiles == kept.summaries[i].profiles);
    CHECK(near(read.summaries[i].sum, kept.summaries[i].sum));
    CHECK(near(read.summaries[i].minimum, kept.summaries[i].minimum));
    CHECK(near(read.summaries[i].maximum, kept.summaries[i].maximum));
  }
  REQUIRE(read.traces.size() == 50);
  for (size_t i = 0; i < read.traces.size(); ++i) {
    TraceSource written = read.traces[i], source = kept.traces[i];
    std::vector<TraceRecord> block, expected;
    REQUIRE(written(block));
    REQUIRE(source(expected));
    CHECK(block.size() > 10);
    CHECK(block.front() == expected.front());
  }
}

TEST_CASE("A process that runs on while it is analyzed is shown as it was") {
  const TemporaryDirectory directory;
  const FixturePlaces places = fixture_places();
  Recorder recorder(directory / "a.prof", info_of_rank(0));
  describe(recorder.file, fixture_module());
  recorder.file.write_thread_start(0, 1000, kStartMonotonic, "app");
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {places.outer}, kTime, 3 * kMillisecond);
  REQUIRE(thread.trace.append(kStartMonotonic + kMillisecond, 1));
  write_rank(directory / "b.prof", 1, fixture_module());  // the file that was read last is always kept
  AnalyzeOptions options;
  options.kept_bytes = 0;
  options.leaves_values = true;
  const Analysis analysis = analyze({directory.path()}, options);
  const Database& database = analysis.database;
  sample(thread, {places.plain, places.inlined}, kTime, kMillisecond);
  REQUIRE(thread.trace.append(kStartMonotonic + 2 * kMillisecond, 2));

  const std::vector<std::vector<ProfileValue>> values = database.values.compute(database, 0);
  REQUIRE(values.size() == 1);
  for (const ProfileValue& value : values[0]) CHECK(value.context < database.contexts.size());
  write_database(database, directory / "database");
  CHECK(paths(read_database(directory / "database")) == paths(database));
}

TEST_CASE("A measurement that is another one when it is read again is named") {
  const Job job(2);
  AnalyzeOptions options;
  options.kept_bytes = 0;
  options.leaves_values = true;
  const Analysis analysis = analyze(job.parts(), options);
  for (const char* file : {"a/2.prof", "b/1.prof"}) {
    fs::remove(job / file);
    Recorder recorder(job / file, info_of_rank(0));
    describe(recorder.file, fixture_module());
    recorder.finish();
  }
  const auto failure = [&](size_t piece) -> std::string {
    try {
      analysis.database.values.compute(analysis.database, piece);
    } catch (const AnalyzeError& error) {
      return error.what();
    }
    return "";
  };
  // One of them may be kept.
  CHECK((failure(0) + failure(1)).find("was replaced while it was analyzed; analyze it again") !=
        std::string::npos);
}
