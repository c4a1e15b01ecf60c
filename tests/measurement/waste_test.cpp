// Wasted stores and loads are read as they were written.

#include <catch2/catch.hpp>

#include "hpcrun/cct/waste_cells.h"
#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

using namespace prof;
using namespace prof::test;
using hpcrun::WasteKind;

namespace {

constexpr hpcrun::WastedMemory kMemory{2, 1, 0x5000, 8};

}  // namespace

TEST_CASE("pairs and totals of wasted accesses are read back, with contexts of two threads") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& first = recorder.add_thread();
  RecordedThread& second = recorder.add_thread();
  std::vector<hpcrun::NodeId> nodes;
  for (uint64_t i = 1; i <= 40; ++i) {
    const hpcrun::FrameKey frame = hpcrun::make_frame(1, i * 16);
    second.tree.insert(&frame, 1);
    nodes.push_back(first.tree.insert(&frame, 1));
  }
  hpcrun::WasteCells cells;
  REQUIRE(cells.attach(recorder.file, first.arena, 0));
  const auto add = [&](const hpcrun::WasteSite& site, const hpcrun::WastedMemory& memory, uint64_t bytes) {
    hpcrun::WasteCell* cell = cells.find(site);
    if (!cell) cell = cells.make(site, memory);
    REQUIRE(cell);
    hpcrun::WasteCells::add(*cell, 1, bytes);
  };
  for (int round = 0; round < 3; ++round)
    for (const hpcrun::NodeId dead : nodes) {
      add({dead, 0, 0, 0, WasteKind::DeadStore, 0}, {}, 8);
      add({dead, 0, 0, 0, WasteKind::DeadStore, hpcrun::kWasteUndecided}, {}, 4);
      for (const hpcrun::NodeId killing : nodes)
        add({dead, 0, killing, 1, WasteKind::DeadStore, 0}, kMemory, dead + killing);
    }
  cells.seal();
  CHECK(cells.find({nodes[0], 0, 0, 0, WasteKind::DeadStore, 0}) == nullptr);
  recorder.finish();
  const ProcessMeasurement measurement = read_measurement(recorder.path());
  CHECK(measurement.warnings.empty());
  const std::vector<MeasuredWasteCell>& read = measurement.threads.at(0).waste;
  REQUIRE(read.size() == nodes.size() * (nodes.size() + 2));
  for (const MeasuredWasteCell& cell : read) {
    const bool is_total = cell.second_node == 0;
    const uint64_t bytes = !is_total                               ? cell.first_node + cell.second_node
                           : cell.flags == hpcrun::kWasteUndecided ? 4
                                                                   : 8;
    const bool is_right =
        cell.kind == WasteKind::DeadStore && cell.count == 3 && cell.bytes == 3 * bytes &&
        cell.second_thread == (is_total ? 0u : 1u) && cell.address == (is_total ? 0u : kMemory.address) &&
        cell.object_node == (is_total ? 0u : 2u) && cell.access_bytes == (is_total ? 0u : 8u);
    if (!is_right) FAIL("nodes " << cell.first_node << " and " << cell.second_node);
  }
}

TEST_CASE("pairs that lost a context are left out, totals are attributed to the root") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& thread = recorder.add_thread();
  const hpcrun::FrameKey frame = hpcrun::make_frame(1, 16);
  const hpcrun::NodeId node = thread.tree.insert(&frame, 1);
  hpcrun::WasteCells cells;
  REQUIRE(cells.attach(recorder.file, thread.arena, 0));
  const auto add = [&](const hpcrun::WasteSite& site) {
    hpcrun::WasteCells::add(*cells.make(site, {77, 0, 0, 0}), 1, 1);
  };
  add({node, 0, 99, 0, WasteKind::SilentStore, 0});
  add({node, 9, node, 0, WasteKind::SilentStore, 0});
  add({99, 0, 0, 0, WasteKind::SilentStore, 0});
  add({node, 0, node, 0, WasteKind::RedundantLoad, 0});
  add({node, 0, node, 0, static_cast<WasteKind>(200), 0});
  cells.seal();
  recorder.finish();
  const ProcessMeasurement measurement = read_measurement(recorder.path());
  const std::vector<MeasuredWasteCell>& read = measurement.threads.at(0).waste;
  REQUIRE(read.size() == 2);
  CHECK(read[0].first_node == 0);
  CHECK(read[0].kind == WasteKind::SilentStore);
  CHECK(read[1].kind == WasteKind::RedundantLoad);
  CHECK(read[1].object_node == 0);
}
