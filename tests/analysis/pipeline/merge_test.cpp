// Contexts and values of small measurements, compared exactly.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "analysis/pipeline/pipeline.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;

using Tree = std::map<std::string, Values>;

Values values(double exclusive, double inclusive, double point) {
  return {exclusive, inclusive, point};
}

// Rounds values to whole milliseconds, because they are sums of doubles.
Tree rounded(Tree tree) {
  for (auto& [path, value] : tree) {
    for (double* part : {&value.exclusive, &value.inclusive, &value.point}) *part = std::round(*part * 1000);
  }
  return tree;
}

void check_equal(const Tree& found, const Tree& expected) {
  for (const auto& [path, value] : expected) {
    INFO(path);
    REQUIRE(found.count(path) == 1);
    CHECK(found.at(path).exclusive == value.exclusive);
    CHECK(found.at(path).inclusive == value.inclusive);
    CHECK(found.at(path).point == value.point);
  }
  for (const auto& [path, value] : found) {
    INFO("unexpected: " << path);
    CHECK(expected.count(path) == 1);
  }
}

// Returns "a/b:1" for "a/b:1/c:2", and the function "a" for the line "a:1".
std::string function_of(const std::string& line) {
  return line.substr(0, line.rfind(':'));
}

// The prefix of a path that ends after its nth "/name:line" part, counted from 1.
std::string part(const std::string& path, int count) {
  size_t at = 0;
  while (count-- > 0) at = path.find('/', at + 1);
  return path.substr(0, at);
}

std::set<std::string> all_paths(const Database& database) {
  std::set<std::string> paths;
  for (uint32_t i = 0; i < database.contexts.size(); ++i) paths.insert(path_of(database, i));
  return paths;
}

}  // namespace

TEST_CASE("values go to lines and add up along calls and inlined calls") {
  const TemporaryDirectory directory;
  const FixturePlaces places = fixture_places();
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, fixture_module());
  recorder.file.write_thread_start(0, 4242, kStartMonotonic, "app");
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {places.outer, places.inlined}, kTime, 3 * kMillisecond);
  sample(thread, {places.outer, places.inlined}, kTime, 1 * kMillisecond);
  sample(thread, {places.outer, places.plain}, kTime, 5 * kMillisecond);
  sample(thread, {places.outer}, kTime, 7 * kMillisecond);
  sample(thread, {places.outer}, kMisses, 11);
  recorder.finish();

  const Analysis analysis = analyze({directory.path()});
  CHECK(analysis.warnings.empty());
  const Database& database = analysis.database;
  REQUIRE(database.metrics.size() == 2);
  CHECK(database.metrics[0].name == "CPUTIME");
  CHECK(database.metrics[0].unit == "sec");
  CHECK(database.title == "app");
  REQUIRE(database.profiles.size() == 1);
  CHECK(database.profiles[0].samples == 5);
  CHECK(database.profiles[0].id == ProfileId{"node17", 3, 4242, 0, "app"});

  const std::string entry = "main thread";
  const std::string outer = entry + places.outer_path;
  const std::string apply = outer + places.inlined_path;
  const std::string twice = part(apply, 4);  // main thread, exported_entry, work, twice
  const std::string work_call = part(apply, 3);
  const std::string plain = outer + places.plain_path;
  REQUIRE(work_call != plain);
  REQUIRE(function_of(work_call) == function_of(plain));
  check_equal(rounded(values_by_path(database, database.profiles[0], 0)),
              {{entry, values(0, 16, 0)},
               {function_of(outer), values(7, 16, 0)},
               {outer, values(7, 16, 7)},
               {function_of(plain), values(5, 9, 0)},
               {plain, values(5, 5, 5)},
               {work_call, values(0, 4, 0)},
               {function_of(twice), values(0, 4, 0)},
               {twice, values(0, 4, 0)},
               {function_of(apply), values(4, 4, 0)},
               {apply, values(4, 4, 4)}});
  check_equal(
      values_by_path(database, database.profiles[0], 1),
      {{entry, values(0, 11, 0)}, {function_of(outer), values(11, 11, 0)}, {outer, values(11, 11, 11)}});
}

TEST_CASE("threads and processes share contexts, and summaries cover them") {
  const TemporaryDirectory directory;
  const FixturePlaces places = fixture_places();
  for (int process = 0; process < 2; ++process) {
    hpcrun::ProcessInfo info = process_info();
    info.pid = 100 + process;
    info.rank = process;
    Recorder recorder(directory / (process == 0 ? "z.prof" : "a.prof"), info);
    describe(recorder.file, fixture_module());
    for (int thread = 0; thread < 2; ++thread) {
      const auto value = static_cast<uint64_t>(1 + process * 2 + thread);
      sample(recorder.add_thread(), {places.outer, places.plain}, kMisses, value);
    }
    recorder.finish();
  }
  const Database database = analyze({directory.path()}).database;

  REQUIRE(database.profiles.size() == 4);
  std::vector<std::pair<int32_t, int32_t>> order;
  for (const Profile& profile : database.profiles) order.emplace_back(profile.id.rank, profile.id.thread);
  CHECK(order == std::vector<std::pair<int32_t, int32_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});

  std::set<std::string> expected;
  for (const std::string entry : {"main thread", "application thread"}) {
    const std::string outer = entry + places.outer_path;
    const std::string plain = outer + places.plain_path;
    expected.insert({entry, function_of(outer), outer, function_of(plain), plain});
  }
  CHECK(all_paths(database) == expected);
  CHECK(database.contexts.size() == expected.size());
  REQUIRE(database.modules.size() == 1);
  CHECK(database.modules[0].path == fixture_module().string());
  CHECK(database.modules[0].build_id.size() == 40);  // from the file: the measurement has none

  for (uint32_t i = 0; i < database.contexts.size(); ++i) {
    if (path_of(database, i) != "main thread") continue;
    const Summary& summary = database.summary(1, i);
    CHECK(summary.profiles == 2);
    CHECK(summary.sum.inclusive == 1 + 3);
    CHECK(summary.minimum.inclusive == 1);
    CHECK(summary.maximum.inclusive == 3);
    CHECK(summary.sum_of_squares.inclusive == 1 + 9);
    CHECK(database.summary(0, i).profiles == 0);
  }
}

TEST_CASE("recursion is kept, or folded into the first occurrence") {
  const TemporaryDirectory directory;
  const TemporaryDirectory modules;
  const std::filesystem::path module = modules / "libstripped.so";
  make_stripped_module(module);
  const uint64_t a = fixture_address("exported_entry");
  const uint64_t b = fixture_address("fixture4workEm");
  const uint64_t c = fixture_address("unnamed_when_stripped");
  const std::string A = "/exported_entry";  // an exported symbol stays
  const std::string B = "/" + stripped_name(module, b);
  const std::string C = "/" + stripped_name(module, c);
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, module);
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {a, b, a, c}, kMisses, 1);  // indirect
  sample(thread, {a, a, a}, kMisses, 10);    // direct, at different places
  sample(thread, {a, b}, kMisses, 100);
  recorder.finish();

  const std::string M = "main thread";
  const Database kept = analyze({directory.path()}).database;
  check_equal(values_by_path(kept, kept.profiles[0], 1), {{M, values(0, 111, 0)},
                                                          {M + A, values(0, 111, 0)},
                                                          {M + A + B, values(100, 101, 100)},
                                                          {M + A + B + A, values(0, 1, 0)},
                                                          {M + A + B + A + C, values(1, 1, 1)},
                                                          {M + A + A, values(0, 10, 0)},
                                                          {M + A + A + A, values(10, 10, 10)}});

  AnalyzeOptions options;
  options.merge_recursion = true;
  const Database merged = analyze({directory.path()}, options).database;
  check_equal(values_by_path(merged, merged.profiles[0], 1), {{M, values(0, 111, 0)},
                                                              {M + A, values(10, 111, 10)},
                                                              {M + A + B, values(100, 100, 100)},
                                                              {M + A + C, values(1, 1, 1)}});
}

TEST_CASE("a sample without a stack counts for its thread, a frame without a module is unknown") {
  const TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, fixture_module());
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {}, kMisses, 1);
  const hpcrun::FrameKey lost_module = hpcrun::make_frame(7, 0x1234);
  REQUIRE(thread.tree.add(thread.tree.insert(&lost_module, 1), kMisses, 2));
  recorder.finish();
  const Analysis analysis = analyze({directory.path()});
  CHECK(analysis.warnings.empty());
  check_equal(values_by_path(analysis.database, analysis.database.profiles[0], 1),
              {{"main thread", values(1, 3, 1)}, {"main thread/[unknown]", values(2, 2, 2)}});
}

TEST_CASE("what the library in front of the allocator calls is called by its caller") {
  const TemporaryDirectory directory;
  const std::filesystem::path front = directory / "libprof-heap.so";
  std::filesystem::copy_file(fixture_module(), front);
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, fixture_module());
  constexpr uint16_t kFront = kModule + 1;
  recorder.file.write_module(kFront, front.c_str(), 0x30000, 0x40000, 0x30000, nullptr, 0);
  const FixturePlaces places = fixture_places();
  RecordedThread& thread = recorder.add_thread();
  // Innermost function first.
  const auto sampled = [&](std::vector<hpcrun::FrameKey> frames, uint64_t value) {
    frames.push_back(hpcrun::make_frame(kModule, places.outer));
    const hpcrun::NodeId node = thread.tree.insert(frames.data(), static_cast<uint32_t>(frames.size()));
    REQUIRE(thread.tree.add(node, kMisses, value));
  };
  const hpcrun::FrameKey of_front = hpcrun::make_frame(kFront, places.plain);
  sampled({of_front}, 1);
  sampled({hpcrun::make_frame(kFront, places.outer), of_front}, 2);
  sampled({hpcrun::make_frame(kModule, places.plain), of_front}, 4);
  recorder.finish();
  const Database database = analyze({directory.path()}).database;
  const std::string outer = "main thread" + places.outer_path, plain = outer + places.plain_path;
  check_equal(values_by_path(database, database.profiles[0], 1), {{"main thread", values(0, 7, 0)},
                                                                  {function_of(outer), values(0, 7, 0)},
                                                                  {outer, values(0, 7, 0)},
                                                                  {outer + "/[prof]", values(3, 3, 3)},
                                                                  {function_of(plain), values(4, 4, 0)},
                                                                  {plain, values(4, 4, 4)}});
}

TEST_CASE("what the runtime in the program calls of itself is one call") {
  const TemporaryDirectory directory;
  const std::filesystem::path runtime = directory / "libprof-locks.so";
  std::filesystem::copy_file(fixture_module(), runtime);
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, runtime);
  const FixturePlaces places = fixture_places();
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {places.outer}, kMisses, 1);
  sample(thread, {places.outer, places.plain}, kMisses, 2);
  sample(thread, {places.outer, places.plain, places.inlined, places.plain}, kMisses, 4);
  recorder.finish();
  const Database database = analyze({directory.path()}).database;
  check_equal(values_by_path(database, database.profiles[0], 1),
              {{"main thread", values(0, 7, 0)},
               {"main thread/exported_entry", values(1, 7, 1)},
               {"main thread/exported_entry/[prof]", values(6, 6, 6)}});
}

TEST_CASE("generated code is named by the process's perf map on this host only") {
  const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::ofstream(map) << "700000 100 Program::hot()\n";
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  for (const bool here : {true, false}) {
    const TemporaryDirectory directory;
    hpcrun::ProcessInfo info = process_info();
    info.pid = getpid();
    if (here) info.host = host;
    Recorder recorder(directory / "a.prof", info);
    describe(recorder.file, fixture_module());
    RecordedThread& thread = recorder.add_thread();
    const hpcrun::FrameKey frame = hpcrun::make_frame(hpcrun::kModuleNone, 0x700010);
    REQUIRE(thread.tree.add(thread.tree.insert(&frame, 1), kMisses, 2));
    recorder.finish();
    const Database database = analyze({directory.path()}).database;
    const std::string function = here ? "main thread/Program::hot()" : "main thread/[jit]";
    check_equal(values_by_path(database, database.profiles[0], 1),
                {{"main thread", values(0, 2, 0)}, {function, values(2, 2, 2)}});
  }
  std::filesystem::remove(map);
}
