// Wasted stores and loads of threads and processes become pairs of contexts, totals and metrics.

#include <link.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/pipeline.h"
#include "hpcrun/cct/waste_cells.h"
#include "hpcrun/measurement/waste_metrics.h"
#include "tests/analysis/attribution/elf_probe.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
using hpcrun::WasteCells;
using hpcrun::WasteKind;

constexpr uint64_t kDead = 1 << static_cast<int>(WasteKind::DeadStore);
constexpr uint64_t kSilent = 1 << static_cast<int>(WasteKind::SilentStore);
constexpr uint64_t kRedundant = 1 << static_cast<int>(WasteKind::RedundantLoad);
constexpr uint32_t kOuter = 1, kPlain = 2, kInlined = 3;  // nodes of each thread
constexpr hpcrun::WastedMemory kUnknown{0, 0, 0x10, 8};

struct Row {
  uint64_t key, sum;
};
struct Table {
  uint64_t size;
  Row rows[4];
};
Table table;  // of this test, which is a module of the measured program, too

// Adds the module that has `table`.
void add_own_module(hpcrun::MeasurementFile& file) {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;  // the program itself comes first
      },
      &bias);
  const auto address = reinterpret_cast<uint64_t>(&table);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::vector<uint8_t> id = build_id(program);
  file.write_module(2, program.c_str(), address, address + sizeof table, bias, id.data(),
                    static_cast<uint32_t>(id.size()));
}

// One process with three threads, which have the same three contexts.
class Wasting {
 public:
  Wasting(const std::filesystem::path& path, uint64_t searched) : recorder_(path) {
    describe(recorder_.file, fixture_module());
    announce(hpcrun::kWasteMetrics, recorder_.file);
    recorder_.file.counter(hpcrun::Counter::LooksForWaste).store(searched);
    for (uint32_t i = 0; i < 3; ++i) {
      recorder_.file.write_thread_start(i, static_cast<int>(100 + i), kStartMonotonic, "worker");
      RecordedThread& thread = recorder_.add_thread();
      for (const uint64_t place : {fixture_places().outer, fixture_places().plain, fixture_places().inlined})
        sample(thread, {place}, kTime, kMillisecond);
      REQUIRE(cells_[i].attach(recorder_.file, thread.arena, i));
    }
  }
  ~Wasting() {
    for (WasteCells& cells : cells_) cells.seal();
    recorder_.finish();
  }

  void add(const hpcrun::WasteSite& site, uint64_t count, uint64_t bytes,
           const hpcrun::WastedMemory& memory = kUnknown) {
    WasteCells& cells = cells_[site.first_thread];
    hpcrun::WasteCell* cell = cells.find(site);
    if (!cell) cell = cells.make(site, site.second_node == 0 ? hpcrun::WastedMemory{} : memory);
    REQUIRE(cell);
    WasteCells::add(*cell, count, bytes);
  }
  void pair(WasteKind kind, uint32_t thread, uint32_t first, uint32_t second, uint64_t bytes,
            const hpcrun::WastedMemory& memory = kUnknown) {
    add({first, thread, second, thread, kind, 0}, bytes / 8, bytes, memory);
  }
  void total(WasteKind kind, uint32_t node, uint64_t bytes, uint8_t flags = 0) {
    add({node, 0, 0, 0, kind, flags}, bytes / 8, bytes);
  }
  Recorder& recorder() { return recorder_; }

 private:
  Recorder recorder_;
  WasteCells cells_[3];
};

struct Result {
  Analysis analysis;
  nlohmann::json waste;

  // Returns the sum of a metric over all contexts and profiles.
  double sum(const std::string& metric) const {
    double all = 0;
    for (const auto& [path, value] : by_path(metric)) all += value;
    return all;
  }

  std::map<std::string, double> by_path(const std::string& metric) const {
    const Database& database = analysis.database;
    std::map<std::string, double> values;
    for (uint32_t m = 0; m < database.metrics.size(); ++m)
      if (database.metrics[m].name == metric)
        for (const Profile& profile : database.profiles)
          for (const auto& [path, value] : values_by_path(database, profile, m))
            if (value.point > 0) values[path] += value.point;
    return values;
  }
};

Result analyzed(const TemporaryDirectory& directory) {
  Result result{analyze({directory.path()}), {}};
  const nlohmann::json run = run_of(result.analysis.database);
  if (run.contains("memory_waste")) result.waste = run["memory_waste"];
  return result;
}

}  // namespace

TEST_CASE("equal pairs of threads and processes are one pair, and totals are summed") {
  TemporaryDirectory directory;
  for (const char* file : {"a.prof", "b.prof"}) {
    Wasting process(directory / file, kDead | hpcrun::kWasteExact);
    process.total(WasteKind::DeadStore, kOuter, 1000);
    process.total(WasteKind::DeadStore, kPlain, 1000);
    process.pair(WasteKind::DeadStore, 2, kOuter, kPlain, 240);
    process.pair(WasteKind::DeadStore, 1, kOuter, kPlain, 160);
    process.pair(WasteKind::DeadStore, 1, kPlain, kOuter, 80);
  }
  const Result result = analyzed(directory);
  CHECK(result.waste["is_exact"] == true);
  REQUIRE(result.waste["totals"].size() == 1);
  const nlohmann::json& total = result.waste["totals"][0];
  CHECK(total["kind"] == "dead-store");
  CHECK(total["checked_bytes"] == 4000);
  CHECK(total["checked_count"] == 500);
  CHECK(total["wasted_bytes"] == 960);
  REQUIRE(result.waste["pairs"].size() == 2);
  const nlohmann::json& pair = result.waste["pairs"][0];
  CHECK(pair["bytes"] == 800);
  CHECK(pair["count"] == 100);
  CHECK(pair["access_bytes"] == 8);
  const Database& database = result.analysis.database;
  const std::string first = path_of(database, pair["first"]), second = path_of(database, pair["second"]);
  CHECK(first.ends_with(fixture_places().outer_path));
  CHECK(second.ends_with(fixture_places().plain_path));
}

TEST_CASE("dead bytes belong to the first access, silent and redundant ones to the second") {
  TemporaryDirectory directory;
  {
    Wasting process(directory / "a.prof", kDead | kSilent | kRedundant | hpcrun::kWasteSampled);
    for (const WasteKind kind : {WasteKind::DeadStore, WasteKind::SilentStore, WasteKind::RedundantLoad}) {
      process.total(kind, kOuter, 800);
      process.pair(kind, 0, kOuter, kPlain, 80);
    }
  }
  const Result result = analyzed(directory);
  CHECK(result.waste["is_exact"] == false);
  CHECK(result.waste["totals"].size() == 3);
  CHECK(result.sum("WRITTEN") == 800);  // the stores were searched twice
  CHECK(result.sum("LOADED") == 800);
  const auto at = [&](const char* metric) { return result.by_path(metric).begin()->first; };
  CHECK(at("DEAD_WRITE").ends_with(fixture_places().outer_path));
  CHECK(at("SILENT_WRITE").ends_with(fixture_places().plain_path));
  CHECK(at("REDUNDANT_LOAD").ends_with(fixture_places().plain_path));
  CHECK(result.sum("DEAD_WRITE") == 80);
}

TEST_CASE("stores that were searched for silent ones only count as written") {
  TemporaryDirectory directory;
  {
    Wasting process(directory / "a.prof", kSilent | hpcrun::kWasteExact);
    process.total(WasteKind::SilentStore, kOuter, 800);
  }
  const Result result = analyzed(directory);
  CHECK(result.sum("WRITTEN") == 800);
  CHECK(result.waste["pairs"].empty());
}

TEST_CASE("undecided accesses are counted apart") {
  TemporaryDirectory directory;
  {
    Wasting process(directory / "a.prof", kDead | hpcrun::kWasteSampled);
    process.total(WasteKind::DeadStore, kOuter, 800);
    process.total(WasteKind::DeadStore, kOuter, 400, hpcrun::kWasteUndecided);
  }
  const Result result = analyzed(directory);
  CHECK(result.waste["totals"][0]["checked_count"] == 100);
  CHECK(result.waste["totals"][0]["undecided_count"] == 50);
  CHECK(result.sum("WRITTEN") == 800);
}

TEST_CASE("the memory of a pair is an allocation, a stack or a variable") {
  TemporaryDirectory directory;
  {
    Wasting process(directory / "a.prof", kDead | hpcrun::kWasteExact);
    add_own_module(process.recorder().file);
    process.recorder().file.write_thread_memory({1, 0x7000, 0x8000, 0});
    process.pair(WasteKind::DeadStore, 0, kOuter, kPlain, 320, {kInlined, 1, 0x7100, 4});
    process.pair(WasteKind::DeadStore, 0, kOuter, kOuter, 240, {0, 0, 0x7100, 4});
    process.add({kPlain, 0, kPlain, 0, WasteKind::DeadStore, hpcrun::kWasteFrameEnded}, 20, 160);
    process.pair(WasteKind::DeadStore, 0, kPlain, kPlain, 80);
    const auto sum = reinterpret_cast<uint64_t>(&table.rows[2].sum);
    process.pair(WasteKind::DeadStore, 0, kPlain, kOuter, 40, {0, 0, sum, 8});
  }
  const Result result = analyzed(directory);
  const nlohmann::json& pairs = result.waste["pairs"];
  REQUIRE(pairs.size() == 5);
  CHECK(path_of(result.analysis.database, pairs[0]["allocation"]).ends_with(fixture_places().inlined_path));
  CHECK(pairs[0]["on_stack"] == false);
  CHECK(pairs[1]["on_stack"] == true);
  CHECK(pairs[1]["allocation"] == 0);
  CHECK(pairs[2]["frame_ended"] == true);
  CHECK(pairs[2]["on_stack"] == true);
  CHECK(pairs[3]["frame_ended"] == false);
  CHECK(pairs[3]["name"] == "");
  CHECK(pairs[4]["name"].get<std::string>().ends_with("table.rows[].sum"));
  CHECK(pairs[4]["declared"].get<std::string>().starts_with("memory_waste_test.cpp:"));
}

TEST_CASE("a search that found nothing has totals and no pairs, and without a search there is no record") {
  TemporaryDirectory searched, other;
  { const Wasting process(searched / "a.prof", kDead | kRedundant | hpcrun::kWasteSampled); }
  { const Wasting process(other / "a.prof", 0); }
  const Result found = analyzed(searched);
  CHECK(found.waste["totals"].size() == 2);
  CHECK(found.waste["totals"][1]["kind"] == "redundant-load");
  CHECK(found.waste["pairs"].empty());
  CHECK(analyzed(other).waste.is_null());
}
