// The dump of the Valgrind tool becomes a measurement file; a broken one is refused.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "hpcrun/measurement/reader.h"
#include "hpcrun/measurement/waste_metrics.h"
#include "hpcrun/unwind/frame.h"
#include "prof/exact/convert.h"
#include "prof/exact/dump.h"
#include "tests/exact/synthetic_dump.h"
#include "tests/long.h"
#include "tests/measurement/recorder.h"

using namespace prof;
using namespace prof::test;
using hpcrun::WasteKind;

namespace {

ProcessMeasurement converted(const ExactDump& dump) {
  const TemporaryDirectory directory;
  const std::string bytes = bytes_of(dump);
  convert_exact_dump(read_exact_dump(bytes), directory.path());
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    return read_measurement(entry.path());
  throw std::runtime_error("no file");
}

// Returns the addresses of a node's path, the leaf first.
std::vector<uint64_t> path_of(const ProcessMeasurement& measurement, uint32_t thread, uint32_t node) {
  std::vector<uint64_t> path;
  const MeasuredThread& of = measurement.threads.at(thread);
  for (; node != 0; node = of.nodes.at(node).parent)
    path.push_back(hpcrun::frame_offset(of.nodes.at(node).frame));
  return path;
}

const MeasuredWasteCell& cell_of(const ProcessMeasurement& measurement, WasteKind kind, bool is_total,
                                 uint64_t bytes) {
  for (const MeasuredThread& thread : measurement.threads)
    for (const MeasuredWasteCell& cell : thread.waste)
      if (cell.kind == kind && (cell.second_node == 0) == is_total && cell.bytes == bytes) return cell;
  throw std::runtime_error("no such cell");
}

bool is_refused(const std::string& bytes) {
  try {
    read_exact_dump(bytes);
    return false;
  } catch (const DumpError&) {
    return true;
  }
}

}  // namespace

TEST_CASE("a dump becomes a measurement with its pairs, totals and counts") {
  const ProcessMeasurement measurement = converted(synthetic_dump());
  CHECK(measurement.warnings.empty());
  CHECK(measurement.process.pid == 4711);
  CHECK(measurement.process.command == "/missing/app 7");
  CHECK(measurement.process.executable == "/missing/app");
  REQUIRE(measurement.threads.size() == 2);
  // The module has no file, so that addresses count from the start of its mapping in the file.
  const uint64_t bias = 0x400000 - 0x1000;
  const MeasuredWasteCell& dead = cell_of(measurement, WasteKind::DeadStore, false, 20);
  CHECK(dead.count == 5);
  CHECK(dead.address == 0x601000);
  CHECK(dead.access_bytes == 4);
  CHECK(path_of(measurement, dead.first_thread, dead.first_node) ==
        std::vector<uint64_t>{0x400110 - bias, 0x400104 - bias});
  CHECK(dead.second_thread == 1);
  CHECK(path_of(measurement, 1, dead.second_node) ==
        std::vector<uint64_t>{0x400210 - bias, 0x400204 - bias, 0x400104 - bias});
  CHECK(path_of(measurement, dead.object_thread, dead.object_node) == std::vector<uint64_t>{0x400104 - bias});
  CHECK(cell_of(measurement, WasteKind::DeadStore, false, 16).object_node == 0);
  CHECK(cell_of(measurement, WasteKind::DeadStore, true, 80).count == 10);
  CHECK(cell_of(measurement, WasteKind::DeadStore, true, 20).first_thread == 1);
  CHECK(cell_of(measurement, WasteKind::SilentStore, true, 80).count == 10);
  CHECK(cell_of(measurement, WasteKind::SilentStore, false, 32).count == 4);
  CHECK(cell_of(measurement, WasteKind::RedundantLoad, true, 160).count == 20);
  CHECK(cell_of(measurement, WasteKind::RedundantLoad, false, 152).count == 19);
}

TEST_CASE("executions are the metric INSTRUCTIONS of the instruction") {
  const ProcessMeasurement measurement = converted(synthetic_dump());
  const auto& cells = measurement.threads.at(0).cells;
  REQUIRE(cells.size() == 1);
  CHECK(cells[0].metric == static_cast<uint16_t>(hpcrun::WasteMetric::Instructions));
  CHECK(cells[0].value == 1000);
}

TEST_CASE("the same access in two records is one cell") {
  ExactDump dump = synthetic_dump();
  dump.accesses.push_back(dump.accesses[0]);
  dump.pairs.push_back(dump.pairs[0]);
  dump.pairs.back().first = 5;
  const ProcessMeasurement measurement = converted(dump);
  CHECK(cell_of(measurement, WasteKind::DeadStore, true, 160).count == 20);
  CHECK(cell_of(measurement, WasteKind::DeadStore, false, 40).count == 10);
}

TEST_CASE("a dump that is cut anywhere, or too long, is refused") {
  const std::string bytes = bytes_of(synthetic_dump());
  REQUIRE(!is_refused(bytes));
  for (size_t length = 0; length < bytes.size(); ++length) CHECK(is_refused(bytes.substr(0, length)));
  CHECK(is_refused(bytes + '\0'));
}

TEST_CASE("a dump with any byte changed is refused or converted") {
  const std::string bytes = bytes_of(synthetic_dump());
  const TemporaryDirectory directory;
  for (size_t at = 0; at < bytes.size(); at += step_of(3)) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(~changed[at]);
    try {
      convert_exact_dump(read_exact_dump(changed), directory.path());
    } catch (const DumpError& error) {
      CHECK(std::string(error.what()) != "");
    }
  }
}

TEST_CASE("indexes that lead out of the dump are refused") {
  const auto refuses = [](const auto& change) {
    ExactDump dump = synthetic_dump();
    change(dump);
    return is_refused(bytes_of(dump));
  };
  CHECK(refuses([](ExactDump& dump) { dump.contexts[1].parent = 2; }));
  CHECK(refuses([](ExactDump& dump) { dump.contexts[1].thread = 2; }));
  CHECK(refuses([](ExactDump& dump) { dump.contexts[1].module = 2; }));
  CHECK(refuses([](ExactDump& dump) { dump.accesses[0].context = 0; }));
  CHECK(refuses([](ExactDump& dump) { dump.accesses[0].context = 5; }));
  CHECK(refuses([](ExactDump& dump) { dump.accesses[0].module = 2; }));
  CHECK(refuses([](ExactDump& dump) { dump.accesses[0].kind = 0; }));
  CHECK(refuses([](ExactDump& dump) { dump.pairs[0].first = 5; }));
  CHECK(refuses([](ExactDump& dump) { dump.pairs[0].second = 5; }));
  CHECK(refuses([](ExactDump& dump) { dump.pairs[0].allocation = 5; }));
  CHECK(refuses([](ExactDump& dump) { dump.pairs[0].kind = 4; }));
  CHECK(refuses([](ExactDump& dump) { dump.modules[0].path = 44; }));
  CHECK(refuses([](ExactDump& dump) { dump.threads[0].name = 44; }));
  CHECK(refuses([](ExactDump& dump) { dump.strings.back() = 'x'; }));
  CHECK(refuses([](ExactDump& dump) { dump.header.version = 2; }));
}
