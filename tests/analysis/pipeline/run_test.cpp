// Everything around merging: files and their failures, traces, the run's record, the written database.

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/analyze/run_analyze.h"
#include "analysis/database/database.h"
#include "hpcrun/measurement/reader.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/measured_program.h"
#include "tests/measurement/synthetic.h"

namespace {

using namespace prof;
using namespace prof::test;
using Json = nlohmann::json;

void record_one(const std::filesystem::path& file, uint64_t misses) {
  Recorder recorder(file);
  describe(recorder.file, fixture_module());
  sample(recorder.add_thread(), {fixture_address("exported_entry")}, kMisses, misses);
  recorder.finish();
}

AnalyzeError::Kind failure_of(const std::filesystem::path& directory) {
  try {
    analyze({directory});
  } catch (const AnalyzeError& error) {
    INFO(error.what());
    CHECK(std::string(error.what()).find(directory.string()) != std::string::npos);
    CHECK(std::string(error.what()).find('\n') == std::string::npos);
    return error.kind();
  }
  FAIL("no error");
  return {};
}

std::vector<TraceRecord> whole_trace(const TraceSource& source) {
  std::vector<TraceRecord> all;
  for (std::vector<TraceRecord> block; source(block);) all.insert(all.end(), block.begin(), block.end());
  return all;
}

double total(const Database& database, uint32_t metric) {
  double sum = 0;
  for (uint32_t i = 0; i < database.contexts.size(); ++i) {
    if (database.contexts[i].parent == kNone) sum += database.summary(metric, i).sum.inclusive;
  }
  return sum;
}

}  // namespace

TEST_CASE("a damaged file is left out with a warning that names it") {
  const TemporaryDirectory directory;
  record_one(directory / "good.prof", 5);
  std::ofstream(directory / "bad.prof") << "these are not measurements";
  std::ofstream(directory / "notes.txt") << "not looked at";
  const Analysis analysis = analyze({directory.path()});
  CHECK(total(analysis.database, 1) == 5);
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0].find("bad.prof") != std::string::npos);
  const Json degradations = run_of(analysis.database)["degradations"];
  CHECK(degradations == Json::array({analysis.warnings[0]}));
}

TEST_CASE("a file that was cut to a part of its header is no measurement") {
  const TemporaryDirectory directory;
  record_one(directory / "cut.prof", 5);
  std::filesystem::resize_file(directory / "cut.prof", 100);
  CHECK(failure_of(directory.path()) == AnalyzeError::Kind::AllUnusable);
  record_one(directory / "good.prof", 5);
  const Analysis analysis = analyze({directory.path()});
  CHECK(total(analysis.database, 1) == 5);
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0].starts_with((directory / "cut.prof").string() +
                                         ": contains no usable measurements: "));
  CHECK(analysis.warnings[0].ends_with("; left out"));
}

TEST_CASE("what the reader says of two files alike speaks of one other file") {
  const TemporaryDirectory directory;
  for (const char* name : {"a.prof", "b.prof"}) {
    Recorder recorder(directory / name);
    describe(recorder.file, fixture_module());
  }
  const Analysis analysis = analyze({directory.path()});
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0].starts_with((directory / "a.prof").string() + " (and 1 more file): "));
}

TEST_CASE("what the reader says of several files alike is one warning") {
  const TemporaryDirectory directory;
  for (const char* name : {"a.prof", "b.prof", "c.prof"}) {
    Recorder recorder(directory / name);  // never finished, as after a kill
    describe(recorder.file, fixture_module());
    sample(recorder.add_thread(), {fixture_address("exported_entry")}, kMisses, 2);
  }
  const Analysis analysis = analyze({directory.path()});
  CHECK(total(analysis.database, 1) == 6);
  REQUIRE(analysis.warnings.size() == 1);
  CHECK(analysis.warnings[0].starts_with((directory / "a.prof").string() + " (and 2 more files): "));
}

TEST_CASE("a process that execs is one process with its threads") {
  const TemporaryDirectory directory;
  record_one(directory / "first.prof", 1);
  record_one(directory / "second.prof", 2);
  const Json run = run_of(analyze({directory.path()}).database)["run"];
  CHECK(run["processes"] == 1);
  CHECK(run["threads"] == 1);
}

TEST_CASE("without usable measurements there is one line that says why") {
  const TemporaryDirectory directory;
  CHECK(failure_of(directory / "nowhere") == AnalyzeError::Kind::NoDirectory);
  CHECK(failure_of(directory.path()) == AnalyzeError::Kind::NoMeasurements);
  std::ofstream(directory / "one.prof") << "no";
  CHECK(failure_of(directory.path()) == AnalyzeError::Kind::AllUnusable);
  std::ofstream(directory / "two.prof") << "";
  CHECK(failure_of(directory.path()) == AnalyzeError::Kind::AllUnusable);
}

TEST_CASE("several directories are one run") {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  // Two runs a minute apart, one second each, with different rates of the same clock.
  for (const int run : {0, 1}) {
    hpcrun::ProcessInfo info = process_info();
    info.pid += run;
    info.start_realtime_ns += static_cast<uint64_t>(run) * 60'000 * kMillisecond;
    Recorder recorder((run == 0 ? first : second) / "a.prof", info);
    recorder.file.write_metric({kTime, "CPUTIME", "sec", 1e-9, "test clock", run == 0 ? 500.0 : 2000.0, ""});
    recorder.file.write_metric({kMisses, "MISSES", "", 1, "test counter", 100, ""});
    RecordedThread& thread = recorder.add_thread();
    for (int i = 0; i < 5; ++i) sample(thread, {fixture_address("exported_entry")}, kMisses, 1);
    sample(thread, {fixture_address("exported_entry")}, kTime, 2 * kMillisecond);
    recorder.file.counter(hpcrun::Counter::Samples) = 6;
    recorder.finish();
  }
  std::ofstream(first / "run.json") << R"({"command": ["/opt/app"], "cpu_s": 2.5, "wall_s": 9,
      "exit_status": 0, "trigger_cost_s": 1e-5})";
  std::ofstream(second / "run.json") << R"({"command": ["other"], "cpu_s": 1.5, "exit_status": 1})";

  const Database database = analyze({first.path(), second.path()}).database;
  CHECK(database.profiles.size() == 2);
  CHECK(total(database, 1) == 10);
  CHECK(database.title == "app");
  const Json json = run_of(database);
  CHECK(json["run"]["command"] == "/opt/app");
  CHECK(json["run"]["cpu_s"].get<double>() == Approx(4));
  CHECK(json["run"]["wall_s"].get<double>() == Approx(2));
  CHECK(json["run"]["start"] == "2023-11-14T22:13:20Z");
  CHECK(json["run"]["processes"] == 2);
  CHECK_FALSE(json["run"].contains("exit_status"));
  CHECK(json["sampling"]["samples"] == 12);
  CHECK(json["sampling"]["source"] == "test clock");
  CHECK_FALSE(json["sampling"].contains("requested_hz"));
  CHECK(json["sampling"]["delivered_hz"].get<double>() == Approx(500));
  CHECK(json["sampling"]["metrics"]["CPUTIME"]["samples"] == 2);
  CHECK(json["sampling"]["metrics"]["MISSES"] ==
        Json{{"samples", 10}, {"source", "test counter"}, {"requested_hz", 100.0}});
  CHECK(json["overhead"]["cpu_s_estimate"].get<double>() == Approx(12e-5));
}

TEST_CASE("a directory that is named twice counts once") {
  const TemporaryDirectory directory;
  record_one(directory / "a.prof", 5);
  std::ofstream(directory / "run.json") << R"({"cpu_s": 2.5, "wall_s": 9})";
  const Database database = analyze({directory.path(), directory / "."}).database;
  CHECK(total(database, 1) == 5);
  CHECK(run_of(database)["run"]["cpu_s"] == 2.5);
  CHECK(run_of(database)["run"]["wall_s"] == 9.0);
}

TEST_CASE(
    "the program's own time is without the runtime's start and end, what lies between processes, and "
    "pauses") {
  const TemporaryDirectory directory;
  const auto record = [&](const char* name, uint64_t start, uint64_t began, uint64_t ended, uint64_t end,
                          uint64_t paused) {
    hpcrun::ProcessInfo info = process_info();
    info.start_monotonic_ns = start * kMillisecond;
    info.start_realtime_ns = kStartRealtime + start * kMillisecond;
    Recorder recorder(directory / name, info);
    describe(recorder.file, fixture_module());
    recorder.file.counter(hpcrun::Counter::ProgramBeganNs) = began * kMillisecond;
    recorder.file.counter(hpcrun::Counter::ProgramEndedNs) = ended * kMillisecond;
    recorder.file.counter(hpcrun::Counter::PausedNanoseconds) = paused * kMillisecond;
    recorder.finish(end * kMillisecond);
  };
  const auto run = [&] { return run_of(analyze({directory.path()}).database)["run"]; };
  record("a.prof", 1000, 1200, 2000, 2050, 0);
  CHECK(run()["wall_s"].get<double>() == Approx(1.05));
  CHECK(run()["program_s"].get<double>() == Approx(0.8));
  // The process becomes another one: 0.3 s pass until it continues.
  record("b.prof", 2150, 2300, 3000, 3000, 100);
  CHECK(run()["wall_s"].get<double>() == Approx(2.0));
  CHECK(run()["program_s"].get<double>() == Approx(0.8 + 0.6));
  // A process that runs at the same time adds nothing. If a process leaves by exec or _exit(), its end is not
  // known.
  record("c.prof", 2350, 2400, 2900, 2950, 0);
  CHECK(run()["program_s"].get<double>() == Approx(0.8 + 0.6));
  record("d.prof", 3000, 3100, 0, 3300, 0);
  CHECK(run()["program_s"].get<double>() == Approx(0.8 + 0.6 + 0.2));
}

TEST_CASE("a run of which no end is known has no length, and used what was sampled") {
  const TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");  // never finished, as after a kill
  describe(recorder.file, fixture_module());
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {fixture_address("exported_entry")}, kTime, 3000 * kMillisecond);
  const auto run = [&] { return run_of(analyze({directory.path()}).database)["run"]; };
  CHECK_FALSE(run().contains("wall_s"));
  CHECK_FALSE(run().contains("program_s"));
  CHECK(run()["cpu_s"].get<double>() == Approx(3));
  // A launcher does not see background processes.
  std::ofstream(directory / "run.json") << R"({"wall_s": 2, "cpu_s": 0.009})";
  CHECK(run()["wall_s"] == 2.0);
  CHECK(run()["cpu_s"].get<double>() == Approx(3));
}

TEST_CASE("of what the launcher left only what makes sense is taken") {
  const TemporaryDirectory directory;
  record_one(directory / "a.prof", 5);
  const Json without = run_of(analyze({directory.path()}).database);
  for (const char* record :
       {"nonsense", "[1]", R"({"command": "app", "host": {"a": 1}, "start": 7, "wall_s": "x", "cpu_s": -1})",
        R"({"command": ["a", 1], "start": "yesterday", "wall_s": 1e300, "cpu_s": null, "exit_status": "x"})",
        R"({"trigger_cost_s": 1e300, "exit_status": 1e9, "wall_s": -2, "cpu_s": true})",
        R"({"trigger_cost_s": -1, "exit_status": 256, "command": []})"}) {
    CAPTURE(record);
    std::ofstream(directory / "run.json") << record;
    CHECK(run_of(analyze({directory.path()}).database) == without);
  }
}

TEST_CASE("a database has copies of the sources, unless it must not") {
  const TemporaryDirectory directory;
  record_one(directory / "a.prof", 5);
  const auto copies = [&](const AnalyzeOptions& options) {
    const auto database = run_analyze({directory.path()}, directory / "database", options).database;
    size_t found = 0;
    for (const SourceFile& file : read_database(database).files) {
      CHECK(file.copied == options.copy_sources);
      if (!file.copied) continue;
      ++found;
      std::ifstream original(file.path);
      std::ifstream copy(database / ("src" + file.path));
      REQUIRE(copy);
      CHECK(std::string(std::istreambuf_iterator<char>(original), {}) ==
            std::string(std::istreambuf_iterator<char>(copy), {}));
    }
    CHECK(std::filesystem::exists(database / "src") == options.copy_sources);
    return found;
  };
  CHECK(copies({}) > 0);
  AnalyzeOptions without;
  without.copy_sources = false;
  CHECK(copies(without) == 0);
}

TEST_CASE("the result does not depend on the number of threads") {
  const TemporaryDirectory directory;
  write_synthetic(directory / "a.prof", {.threads = 3, .samples = 20'000, .contexts = 3'000, .seed = 7});
  write_synthetic(directory / "b.prof", {.threads = 2, .samples = 20'000, .contexts = 3'000, .seed = 8});
  AnalyzeOptions two;
  two.jobs = 2;
  const Database one = analyze({directory.path()}).database;
  const Database other = analyze({directory.path()}, two).database;
  CHECK(one.contexts.size() > 3'000);
  CHECK(one.modules == other.modules);
  CHECK(one.files == other.files);
  CHECK(one.functions == other.functions);
  CHECK(one.contexts == other.contexts);
  CHECK(one.metrics == other.metrics);
  CHECK(one.profiles == other.profiles);
  CHECK(one.summaries == other.summaries);
  CHECK(run_of(one) == run_of(other));
  REQUIRE(one.traces.size() == 5);
  REQUIRE(other.traces.size() == 5);
  for (size_t i = 0; i < one.traces.size(); ++i)
    CHECK(whole_trace(one.traces[i]) == whole_trace(other.traces[i]));
  // Each sample of the generator represents 1 ms.
  CHECK(total(one, 0) == Approx(5 * 20'000 * 0.001));
}

TEST_CASE("a trace tells what the time from each record on was charged to") {
  const TemporaryDirectory directory;
  constexpr uint64_t kQuantum = hpcrun::kTraceQuantumNs;
  constexpr uint64_t kStart = kStartMonotonic / kQuantum * kQuantum;
  hpcrun::ProcessInfo info = process_info();
  info.start_monotonic_ns = kStart;
  const uint64_t a = fixture_address("exported_entry");
  Recorder recorder(directory / "a.prof", info);
  describe(recorder.file, fixture_module());
  recorder.file.write_thread_start(0, 1, kStart, "app");
  recorder.file.write_thread_start(1, 2, kStart, "idle");
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(kModule, a);
  const hpcrun::NodeId node = thread.tree.insert(&frame, 1);
  REQUIRE(thread.trace.append(kStart + 4 * kQuantum, node));
  REQUIRE(thread.trace.append_gap(kStart + 9 * kQuantum));
  REQUIRE(thread.trace.append(kStart + 11 * kQuantum, node));
  sample(recorder.add_thread(), {a}, kMisses, 1);
  recorder.finish();

  const Database database = analyze({directory.path()}).database;
  REQUIRE(database.traces.size() == 2);
  const std::vector<TraceRecord> trace = whole_trace(database.traces[0]);
  REQUIRE(trace.size() == 4);
  const uint32_t context = trace[0].context;
  CHECK(path_of(database, context).starts_with("main thread/exported_entry"));
  CHECK(trace == std::vector<TraceRecord>{{kStartRealtime, context},
                                          {kStartRealtime + 4 * kQuantum, kNone},
                                          {kStartRealtime + 9 * kQuantum, context},
                                          {kStartRealtime + 11 * kQuantum, kNone}});
  CHECK(whole_trace(database.traces[0]) == trace);
  CHECK_FALSE(database.traces[1]);
}

TEST_CASE("a note is about what its writer says, and in files of older versions about what its words say") {
  using hpcrun::NoteKind;
  const TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, fixture_module());
  recorder.file.write_note("Words tell nothing.", NoteKind::Contention);
  recorder.file.write_note("Contention is only a word.");
  recorder.file.write_note("Contention was not followed.", NoteKind::ByWords);
  recorder.file.write_note("In traces, little is seen.", NoteKind::ByWords);
  recorder.file.write_note("Nothing else.", NoteKind::ByWords);
  RecordedThread& thread = recorder.add_thread();
  sample(thread, {fixture_address("exported_entry")}, kTime, 2 * kMillisecond);
  recorder.finish();
  const Database database = analyze({directory.path()}).database;
  const std::vector<Note> notes{{NoteKind::Contention, "Words tell nothing."},
                                {NoteKind::Run, "Contention is only a word."},
                                {NoteKind::Contention, "Contention was not followed."},
                                {NoteKind::Traces, "In traces, little is seen."},
                                {NoteKind::Run, "Nothing else."}};
  CHECK(database.run->notes == notes);
  CHECK(run_in(run_of(database), {database.contexts.size(), database.profiles.size()}).notes == notes);
}

TEST_CASE("the run is described by its measurements, and by what the launcher left") {
  const TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  describe(recorder.file, fixture_module());
  recorder.file.write_note("a note");
  recorder.file.write_thread_end(0, kStartMonotonic + 900 * kMillisecond, 700 * kMillisecond);
  RecordedThread& thread = recorder.add_thread();
  for (int i = 0; i < 4; ++i) sample(thread, {fixture_address("exported_entry")}, kTime, 2 * kMillisecond);
  recorder.file.counter(hpcrun::Counter::Samples) = 4;
  recorder.file.counter(hpcrun::Counter::DroppedOverrun) = 2;
  recorder.file.counter(hpcrun::Counter::HandlerNanoseconds) = 50'000;
  recorder.file.counter(hpcrun::Counter::RuntimeBytes) = 4096;
  recorder.file.counter(hpcrun::Counter::EndMonotonicNs) = kStartMonotonic + 1000 * kMillisecond;
  recorder.file.stack_counter(static_cast<uint8_t>(hpcrun::StackReason::EndOfStack)) = 3;
  recorder.file.stack_counter(static_cast<uint8_t>(hpcrun::StackReason::NoProgress)) = 1;
  recorder.finish();

  const Json derived = run_of(analyze({directory.path()}).database);
  CHECK(derived["run"]["command"] == "app --flag");
  CHECK(derived["run"]["host"] == "node17");
  CHECK(derived["run"]["start"] == "2023-11-14T22:13:20Z");
  CHECK(derived["run"]["wall_s"].get<double>() == Approx(1.0));
  CHECK(derived["run"]["cpu_s"].get<double>() == Approx(0.7));
  CHECK_FALSE(derived["run"].contains("exit_status"));
  CHECK(derived["run"]["processes"] == 1);
  CHECK(derived["run"]["ranks"] == 1);
  CHECK(derived["sampling"]["source"] == "test clock");
  CHECK(derived["sampling"]["requested_hz"] == 1000);
  CHECK(derived["sampling"]["delivered_hz"].get<double>() == Approx(500));
  CHECK(derived["sampling"]["samples"] == 4);
  CHECK(derived["sampling"]["dropped"] == Json{{"overrun", 2}});
  CHECK(derived["stacks"] == Json{{"complete", 3},
                                  {"partial", 0},
                                  {"broken", 1},
                                  {"reasons", {{"end_of_stack", 3}, {"no_progress", 1}}}});
  CHECK(derived["overhead"]["cpu_s_estimate"].get<double>() == Approx(5e-5));
  CHECK(derived["overhead"]["runtime_bytes"] == 4096);
  CHECK(derived["degradations"] == Json{"a note"});

  std::ofstream(directory / "run.json")
      << R"({"command": ["/opt/start", "two words", "it's"], "host": "front", "wall_s": 2.5, "cpu_s": 0.9,
             "start": "2023-11-14T23:13:19+0100", "exit_status": 3, "trigger_cost_s": 2e-5})";
  const Database database = analyze({directory.path()}).database;
  CHECK(database.title == "start");
  const Json recorded = run_of(database);
  CHECK(recorded["run"]["command"] == R"(/opt/start 'two words' 'it'\''s')");
  CHECK(recorded["run"]["start"] == "2023-11-14T22:13:19Z");
  CHECK(recorded["run"]["wall_s"] == 2.5);
  CHECK(recorded["run"]["cpu_s"] == 0.9);
  CHECK(recorded["run"]["exit_status"] == 3);
  CHECK(recorded["run"]["host"] == "front");
  CHECK(recorded["overhead"]["cpu_s_estimate"].get<double>() == Approx(5e-5 + 4 * 2e-5));
}

TEST_CASE("the database is written beside the measurements and says the same") {
  const TemporaryDirectory directory;
  write_synthetic(directory / "a.prof", {.threads = 2, .samples = 5'000, .contexts = 500, .seed = 3});
  const AnalyzeResult result = run_analyze({directory.path()}, {});
  CHECK(result.database == directory / "database");
  const Database analyzed = analyze({directory.path()}).database;
  const Database read = read_database(result.database);
  CHECK(read.contexts.size() == analyzed.contexts.size());
  CHECK(read.profiles.size() == 2);
  CHECK(total(read, 0) == Approx(2 * 5'000 * 0.001));
  CHECK(run_of(read) == run_of(analyzed));
  CHECK(whole_trace(read.traces.at(1)).size() == whole_trace(analyzed.traces.at(1)).size());
}
