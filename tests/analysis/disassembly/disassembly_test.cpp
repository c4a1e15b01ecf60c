// The instructions of functions with their costs and lines, and the reasons if there are none.

#include "analysis/disassembly/disassembly.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

#include "analysis/analyze/run_analyze.h"
#include "analysis/attribution/hex.h"
#include "analysis/database/database.h"
#include "analysis/database/instruction_costs.h"
#include "analysis/disassembly/machine_function.h"
#include "tests/analysis/attribution/elf_probe.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
namespace fs = std::filesystem;

std::string read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Disassembles code in a database without a measurement.
Disassembly code_in(const LoadModule& module, uint64_t offset) {
  const TemporaryDirectory directory;
  Database database;
  database.modules = {module};
  return disassemble(directory.path(), database, {0, offset}, Syntax::Att);
}

std::string failure_of(const LoadModule& module) {
  const Disassembly code = code_in(module, 0);
  CHECK(code.rows.empty());
  CHECK(code.failure.size() < 160);
  CHECK(code.failure.find('\n') == std::string::npos);
  return code.failure;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A run with samples in the attribution fixture, or in its stripped copy.
struct Run {
  explicit Run(const fs::path& module) {
    const FixturePlaces places = fixture_places();
    Recorder recorder(directory / "a.prof");
    describe(recorder.file, module);
    for (uint32_t index = 0; index < 3; ++index) {
      recorder.file.write_thread_start(index, 100 + static_cast<int>(index), 0, "app");
      RecordedThread& thread = recorder.add_thread();
      sample(thread, {places.outer, places.plain}, kTime, 3 * kMillisecond);
      sample(thread, {places.outer, places.inlined}, kTime, (5 + index) * kMillisecond);
      sample(thread, {places.outer}, kMisses, 11);
    }
    recorder.finish();
    AnalyzeOptions options;
    options.copy_sources = false;
    run_analyze({directory.path()}, directory / "database", options);
    database = read_database(directory / "database");
  }
  Disassembly code(uint64_t offset) const {
    return disassemble(directory / "database", database, {0, offset}, Syntax::Att);
  }

  TemporaryDirectory directory;
  Database database;
};

double exclusive_of_all(const Database& database, uint32_t metric) {
  double sum = 0;
  for (uint32_t c = 0; c < database.contexts.size(); ++c) sum += database.summary(metric, c).sum.point;
  return sum;
}

}  // namespace

TEST_CASE("A function of an executable has its instructions, their lines, jumps and loops") {
  for (const std::string file : {CODE_PIE, CODE_NO_PIE}) {
    INFO(file);
    const Extent extent = function_extent(file, "count_down");
    const Disassembly code = code_in({file, hex(build_id(file))}, extent.start);
    REQUIRE(code.failure.empty());
    CHECK(code.function == "count_down");
    CHECK(code.rows.front().offset == extent.start);
    CHECK(code.rows.back().offset + code.rows.back().bytes.size() == extent.end);
    CHECK(contains(code.note, "analyze the measurements again"));  // there is no database on disk

    std::set<uint32_t> lines;
    uint32_t deepest = 0, jumps = 0;
    for (uint32_t i = 0; i < code.rows.size(); ++i) {
      const CodeRow& row = code.rows[i];
      CHECK(code.row_at(row.offset) == i);
      CHECK(code.row_at(row.offset + row.bytes.size() - 1) == i);
      if (row.function == "step" || row.function == "step(unsigned long)") {
        CHECK(row.is_inlined);
        lines.insert(row.line);
      } else {
        CHECK(row.function == "count_down");
        CHECK_FALSE(row.is_inlined);
      }
      deepest = std::max(deepest, row.loops);
      if (row.target_row == kNone) continue;
      ++jumps;
      CHECK(code.rows[row.target_row].offset == row.target);
      CHECK(code.rows[row.target_row].is_target);
    }
    CHECK(lines.contains(marked_line(CODE_SOURCE, "step body")));
    CHECK(jumps >= 2);
    CHECK(deepest == 1);
  }
  CHECK(code_in({CODE_PIE, ""}, function_extent(CODE_PIE, "count_down").start)
            .note.find("without a build ID") != std::string::npos);
}

TEST_CASE("A function in a shared library calls others by their names") {
  const std::string file = FIXTURE_MODULE;
  const Disassembly code = code_in({file, hex(build_id(file))}, fixture_address("exported_entry"));
  REQUIRE(code.failure.empty());
  const auto calls = [&](const std::string& name) {
    return std::ranges::any_of(code.rows,
                               [&](const CodeRow& row) { return row.target && contains(row.text, name); });
  };
  CHECK(calls("<strtoul@plt>"));
  CHECK(calls("<fixture::work(unsigned long)>"));
}

TEST_CASE("Why there are no instructions is reported in a line") {
  const TemporaryDirectory directory;
  const std::string file = CODE_PIE;
  const std::string other(40, '1');
  CHECK(contains(failure_of({file, other}), "has changed since the run (different build ID)"));
  CHECK(contains(failure_of({(directory / "gone").string(), other}), "no longer exists"));
  CHECK(contains(failure_of({"[device]", ""}), "not device code"));
  CHECK(contains(failure_of({"[jit]", ""}), "no file contains this code"));
  write_bytes(directory / "text", "no program");
  CHECK(contains(failure_of({(directory / "text").string(), ""}), "not a readable ELF file"));
  std::string foreign = read_bytes(file);
  foreign[18] = static_cast<char>(183);  // e_machine: AArch64
  write_bytes(directory / "foreign", foreign);
  CHECK(contains(failure_of({(directory / "foreign").string(), ""}), "not x86-64 code"));
  CHECK(contains(failure_of({file, ""}), "no function is known at 0x0"));
}

TEST_CASE("What instructions cost is what was spent in their function itself") {
  const Run run(fixture_module());
  const FixturePlaces places = fixture_places();
  REQUIRE(run.database.modules.size() == 1);
  CHECK(run.database.modules[0].build_id == hex(build_id(fixture_module())));

  const Disassembly work = run.code(places.plain);
  REQUIRE(work.has_costs());
  REQUIRE(work.metrics == 2);
  const uint32_t plain = work.row_at(places.plain), inlined = work.row_at(places.inlined);
  CHECK(work.cost(plain, 0) == Approx(0.009).epsilon(1e-12));
  CHECK(work.cost(inlined, 0) == Approx(0.018).epsilon(1e-12));
  CHECK(work.rows[inlined].is_inlined);
  CHECK(work.rows[inlined].function == "fixture::Multiplier::apply(unsigned long) const");
  CHECK(work.rows[inlined].file != kNone);
  CHECK(run.database.files[work.rows[inlined].file].path == work.rows[inlined].path);
  CHECK(work.totals[0] == Approx(0.027).epsilon(1e-12));
  CHECK(work.totals[1] == 0);
  CHECK(work.totals[0] == Approx(exclusive_of_all(run.database, 0)).epsilon(1e-12));

  const Disassembly entry = run.code(places.outer);
  CHECK(entry.totals[0] == 0);
  CHECK(entry.totals[1] == 33);
  CHECK(entry.cost(entry.row_at(places.outer), 1) == 33);
}

TEST_CASE("Of code without names the instructions between the begins of its functions are shown") {
  const TemporaryDirectory directory;
  make_stripped_module(directory / "stripped.so");
  const Run run(directory / "stripped.so");
  const FixturePlaces places = fixture_places();
  const Disassembly work = run.code(places.plain);
  REQUIRE(work.failure.empty());
  CHECK(work.rows.front().offset == fixture_address("work"));
  CHECK(work.function == stripped_name(directory / "stripped.so", fixture_address("work")));
  CHECK(work.totals[0] == Approx(0.027).epsilon(1e-12));
  CHECK(work.rows.front().line == 0);
}

TEST_CASE("The function whose instructions are of a line is that in which most was spent there") {
  const Run run(fixture_module());
  const Database& database = run.database;
  const CallTree tree = build_call_tree(database, select(database, {}, {}), false);
  const FixturePlaces places = fixture_places();
  const Disassembly work = run.code(places.plain);
  const CodeRow& inlined = work.rows[work.row_at(places.inlined)];
  const CodeLocation of_line = code_of_line(tree, inlined.file, inlined.line, 0);
  CHECK(of_line == CodeLocation{0, fixture_address("work")});
  CHECK(code_of_line(tree, inlined.file, 1, 0).module == kNone);
  for (uint32_t frame = 0; frame < tree.frames.size(); ++frame) {
    const std::string name = frame_name(database, tree.frames[frame]);
    if (contains(name, "apply") || contains(name, "work")) {
      CHECK(code_of_frame(tree, frame, 0) == CodeLocation{0, fixture_address("work")});
    }
  }
}
