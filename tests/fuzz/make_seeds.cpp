// make_fuzz_seeds DIR: writes seeds for all fuzz targets to DIR/TARGET/ with the project's own writers.

#include <zlib.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "analysis/database/database.h"
#include "analysis/pprof/profile.pb.h"
#include "hpcrun/measurement/container_writer.h"
#include "tests/analysis/attribution/go_table.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"
#include "tests/analysis/import/perf_writer.h"
#include "tests/elf/small_file.h"
#include "tests/exact/synthetic_dump.h"
#include "tests/fuzz/database_files.h"
#include "tests/fuzz/timeline_seed.h"
#include "tests/fuzz/workers_seed.h"
#include "tests/measurement/synthetic.h"
#include "tests/repair/layout/plans.h"
#include "tests/sample/synthetic_ring.h"
#include "viewer/trace/index_builder.h"
#include "viewer/trace/index_file.h"

namespace {

namespace fs = std::filesystem;
using namespace prof;

class Seeds {
 public:
  explicit Seeds(fs::path directory) : directory_(std::move(directory)) {}
  void add(const std::string& target, const std::string& name, const std::string& bytes) const {
    fs::create_directories(directory_ / target);
    test::write_bytes(directory_ / target / name, bytes);
  }

 private:
  fs::path directory_;
};

std::string packed(const Database& database) {
  const test::TemporaryDirectory directory;
  write_database(database, directory.path() / "database");
  return test::packed_database(directory.path() / "database");
}

// Returns all rows at once, and starts again after the end.
template <typename Row>
std::function<bool(std::vector<Row>&)> source_of(std::vector<Row> rows) {
  return [rows = std::move(rows), is_done = false](std::vector<Row>& block) mutable {
    block = is_done ? std::vector<Row>() : rows;
    return is_done = !is_done;
  };
}

// A database with tasks and waits in each thread.
Database device_database() {
  Database database = test::random_database(5, {.contexts = 10, .profiles = 3, .metrics = 1, .records = 5});
  database.task_names = {"kernel", "copy"};
  database.wait_names = {"clFinish"};
  database.launches = source_of<DeviceLaunch>(
      {{0, 2, 0, 10, 20, 30, 0}, {1, 2, 1, 15, 30, 45, 0}, {0, 2, kNone, 40, 50, 60, 100}});
  database.device_waits = source_of<WaitForDevice>({{0, 0, 12, 30, 2, 3, 5}, {0, 1, 20, 45, 0, 0, 0}});
  database.instructions = {{0, 0x1000, 0, 1.5}, {0, 0x1004, 0, 2}, {0, 0x1010, 0, 0.25}};
  return database;
}

void add_databases(const Seeds& seeds) {
  seeds.add("database", "known", packed(test::known_database()));
  seeds.add("database", "device", packed(device_database()));
  for (uint32_t seed = 1; seed <= 4; ++seed)
    seeds.add("database", "random-" + std::to_string(seed),
              packed(test::random_database(
                  seed, {.contexts = 10 * seed, .profiles = seed, .metrics = 2, .records = 20})));
}

void add_timelines(const Seeds& seeds) {
  const test::TimelineSeed seed;
  const Database database = read_database(seed.path());
  viewer::BuildProgress progress;
  viewer::build_index(std::make_shared<const viewer::MappedTraces>(database), 1, progress, 0);
  std::string input;
  test::append_part(input, test::read_bytes(seed.path() / "trace.db"));
  seeds.add("timeline", "traces", input);
  seeds.add("timeline", "traces-and-index", input + test::read_bytes(seed.path() / viewer::kIndexFile));
}

void add_workers_parts(const Seeds& seeds) {
  const test::WorkersSeed seed;
  for (size_t i = 0; i < seed.parts().size(); ++i)
    seeds.add("workers_parts", seed.parts()[i], static_cast<char>(i) + seed.text_of(seed.parts()[i]));
}

void add_measurements(const Seeds& seeds) {
  const std::pair<const char*, test::SyntheticRun> runs[] = {
      {"synthetic-1", {.threads = 2, .samples = 40, .contexts = 20, .seed = 1}},
      {"synthetic-2", {.threads = 2, .samples = 40, .contexts = 20, .seed = 2}},
      {"device", {.threads = 2, .samples = 40, .contexts = 20, .queues = 2, .tasks = 40}},
      {"device-sampled",
       {.threads = 1,
        .samples = 40,
        .contexts = 20,
        .queues = 1,
        .tasks = 400,
        .device_period_ns = 1'000'000}},
      {"waste", {.threads = 2, .samples = 40, .contexts = 20, .wasted = 20}},
      {"accesses", {.threads = 2, .samples = 100, .contexts = 20, .accesses_every = 3}},
  };
  for (const auto& [name, run] : runs) {
    const test::TemporaryDirectory directory;
    const fs::path file = directory.path() / "a.prof";
    test::write_synthetic(file, run);
    std::string bytes = test::read_bytes(file);
    bytes.resize(bytes.find_last_not_of('\0') + 1);  // reserved space is omitted
    seeds.add("measurement", name, bytes);
  }
}

void add_containers(const Seeds& seeds) {
  const test::TemporaryDirectory directory;
  const fs::path container = directory.path() / "node.ranks", file = directory.path() / "run-0.json";
  ContainerWriter::create(container, {"node", "/tmp/prof-1-node", "here"});
  seeds.add("container", "empty", test::read_bytes(container));
  for (const size_t bytes : {2u, 4096u, 5000u}) {
    std::ofstream(file) << std::string(bytes, 'x');
    ContainerWriter(container, 0).add(file);
    seeds.add("container", "of-" + std::to_string(bytes), test::read_bytes(container));
  }
}

std::string pprof_profile() {
  perftools::profiles::Profile profile;
  for (const char* text : {"", "samples", "count", "cpu", "nanoseconds", "main", "main.c", "work", "thread",
                           "worker", "pid", "/opt/app", "00ff"})
    profile.add_string_table(text);
  for (const auto& [type, unit] : {std::pair(1, 2), std::pair(3, 4)}) {
    profile.add_sample_type()->set_type(type);
    profile.mutable_sample_type(profile.sample_type_size() - 1)->set_unit(unit);
  }
  auto* const mapping = profile.add_mapping();
  mapping->set_id(1);
  mapping->set_memory_start(0x400000);
  mapping->set_memory_limit(0x500000);
  mapping->set_filename(11);
  mapping->set_build_id(12);
  for (const auto& [id, name] : {std::pair(1, 5), std::pair(2, 7)}) {
    auto* const function = profile.add_function();
    function->set_id(static_cast<uint64_t>(id));
    function->set_name(name);
    function->set_filename(6);
    function->set_start_line(10);
  }
  for (uint64_t id = 1; id <= 3; ++id) {
    auto* const location = profile.add_location();
    location->set_id(id);
    location->set_mapping_id(1);
    location->set_address(0x400000 + id);
    for (uint64_t function = 1; function < id; ++function) {
      auto* const line = location->add_line();
      line->set_function_id(function);
      line->set_line(static_cast<int64_t>(10 + id));
    }
  }
  for (uint64_t leaf = 1; leaf <= 3; ++leaf) {
    auto* const sample = profile.add_sample();
    sample->add_location_id(leaf);
    sample->add_location_id(3);
    sample->add_value(static_cast<int64_t>(leaf));
    sample->add_value(static_cast<int64_t>(leaf) * 1'000'000);
    auto* const thread = sample->add_label();
    thread->set_key(8);
    thread->set_str(9);
    auto* const process = sample->add_label();
    process->set_key(10);
    process->set_num(42);
  }
  profile.set_time_nanos(1'700'000'000'000'000'000);
  profile.set_duration_nanos(1'000'000);
  profile.mutable_period_type()->set_type(3);
  profile.mutable_period_type()->set_unit(4);
  profile.set_period(1'000'000);
  return profile.SerializeAsString();
}

std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(bytes.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

void add_imports(const Seeds& seeds) {
  const test::PerfWriter recording = test::small_recording();
  const std::string stacks =
      "main thread;main;work 3\nmain;read_[k] 12.5\n# comment\nstart;run_[j];fast_[i] 1e3\n\nmain;;b; 7\n";
  const std::string profile = pprof_profile();
  seeds.add("perf", "file", recording.file());
  seeds.add("perf", "compressed", recording.file(true));
  seeds.add("perf", "pipe", recording.pipe());
  seeds.add("perf", "memory", test::memory_recording().file());
  seeds.add("collapsed", "stacks", stacks);
  seeds.add("pprof", "plain", profile);
  seeds.add("import", "perf", recording.file());
  seeds.add("import", "stacks", stacks);
  seeds.add("import", "pprof", profile);
  seeds.add("import", "pprof.gz", gzipped(profile));
  seeds.add("import", "stacks.gz", gzipped(stacks));
}

// Adds records of PEBS and IBS, in rings that wrap around.
void add_rings(const Seeds& seeds) {
  constexpr uint64_t kHitm = 0x2 | 0x42 << 5 | 0x10 << 19, kIbs = 0x2 | 0x82 << 5 | 0x1 << 19;
  for (const auto& [name, source] : {std::pair{"pebs", kHitm}, std::pair{"ibs", kIbs}}) {
    test::SyntheticRing ring(520);
    ring.set_positions(400, 400);
    ring.add({16, 1'000, 0x7f0000001040, 1'000, 250, source, true, true});
    ring.add_other(2, 24);  // PERF_RECORD_LOST
    ring.add({20, 2'000, 0x7f0000001048, 1'000, 250, source | 0x4, true, true});
    ring.add({24, 3'000, 0x7f0000001044, 1'000, 0, 1, false, true});
    seeds.add("memory_ring", name, ring.contents());
  }
}

void add_plans(const Seeds& seeds) {
  for (const auto& [name, plan] :
       {std::pair{"plan", test::a_plan()}, std::pair{"empty", test::plan_of({}, {}, {})}})
    seeds.add("repair_plan", name, std::string(plan.data(), plan.size()));
}

// With a function that pushes one register, in both forms of unwind information.
void add_elf_files(const Seeds& seeds) {
  std::string frames, index{1, 0x1b, 0x03, 0x3b}, dynamic, symbols(8, '\0');
  for (const uint32_t word : {20u, 0u, 0x00527a01u, 0x01107801u, 0x0c1b1000u, 0x00900807u})
    test::append(frames, word);
  for (const uint32_t word : {20u, 28u, 0x1000u, 16u, 0x100e4100u, 0x00000286u}) test::append(frames, word);
  for (const int32_t word : {-64, 1, 0x100, -40}) test::append(index, word);
  for (const uint32_t word : {1u, 1u, 1u, 6u, 0u, 0u, 1u, 3u}) test::append(symbols, word);
  for (const auto& [tag, value] : {std::pair{DT_SYMTAB, 64u}, {DT_GNU_HASH, 72u}, {DT_NULL, 0u}})
    test::append(dynamic, Elf64_Dyn{tag, {value}});
  test::SmallFile file;
  file.add(".gnu.hash", SHT_GNU_HASH, symbols)
      .add(".dynamic", SHT_DYNAMIC, dynamic)
      .add(".note", SHT_NOTE, test::a_note(NT_GNU_BUILD_ID, "GNU", "0123456789abcdef"))
      .add(".eh_frame_hdr", SHT_PROGBITS, index)
      .add(".eh_frame", SHT_PROGBITS, frames);
  seeds.add("elf", "small", file.bytes());
  seeds.add("elf", "numbered-by-first-section", file.number_by_first_section().bytes());
}

void add_texts(const Seeds& seeds) {
  seeds.add("perf_map", "map",
            "1000 100 function one\n2000 10 two\n1000 80 three\n7f0000000000 4096 Interpreter\n");
  seeds.add("exact_dump", "all_kinds", test::bytes_of(test::synthetic_dump()));
  seeds.add("exact_dump", "log", "==1== vex amd64->IR: unhandled instruction bytes: 0x62\nvalgrind: x\n");
  seeds.add("go_functions", "known", test::known_go_table().bytes());
  seeds.add(
      "run_record", "record",
      R"({"command": ["./app", "arg"], "host": "node17", "start": "2026-01-02T03:04:05+0100", "wall_s": 1.5,)"
      R"( "cpu_s": 1.25, "exit_status": 3, "trigger_cost_s": 1.5e-05})");
  seeds.add(
      "repairs", "both",
      R"({"schema": "prof-repair/1", "program": "app", "sites": [{"path": ["make", "main"], "frames": )"
      R"([{"module": "/home/me/app", "build_id": "ab01", "offset": 4096}], "least_bytes": 8, "most_bytes": )"
      R"(40, "align": 64, "offset": 16, "pad": 64, "conflicts_before": 9, "conflicts_after": 0, "why": "w", )"
      R"("declined": "d", "given": true, "trial": {"ratio": 1.5, "pairs": 3}}], "locks": [{"name": "l", )"
      R"("module": "/lib/l.so", "build_id": "", "offset": 64, "bytes": 80, "why": "w"}], "declined": )"
      R"([{"what": "a", "why": "b"}]})");
  seeds.add("formula", "metrics", "CPUTIME.excl / max([L1-misses].incl, 1) * -1.5e3 + perf::CYCLES:u.excl");
  seeds.add("formula", "nested", "min((1 - 2) / (3), max(.5, CPUTIME.incl))");
  seeds.add("settings", "tables",
            "[run]\nevent = [\"CPUTIME@500\", 'REALTIME']\ntrace = true\noutput = \"\"\"prof-%j\"\"\"\n"
            "[report]\nview = \"flat\"\ndepth = 0x10\nthreshold = 2.5e-1  # percent\n"
            "[list.events]\nformat = \"names\"\n");
  seeds.add("settings", "keys", "run.trace = false\nreport = { \"depth\" = 3, threshold = 1 }\n");
  seeds.add("settings", "beyond_ascii", "run.tr\314\232ace = \303\251\n");
  seeds.add("settings", "unknown", "[rnu]\nevent = 1979-05-27T07:32:00Z\n[[run]]\n");
  seeds.add("kernel_symbols", "kallsyms",
            "ffffffff81000000 T _text\nffffffff81000100 t first\nffffffff81000200 D data\n"
            "ffffffff81001000 T _etext\nffffffffc0000000 t probe\t[disk]\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_fuzz_seeds DIR\n");
    return 2;
  }
  const Seeds seeds(argv[1]);
  add_databases(seeds);
  add_timelines(seeds);
  add_workers_parts(seeds);
  add_measurements(seeds);
  add_containers(seeds);
  add_imports(seeds);
  add_rings(seeds);
  add_plans(seeds);
  add_elf_files(seeds);
  add_texts(seeds);
  return 0;
}
