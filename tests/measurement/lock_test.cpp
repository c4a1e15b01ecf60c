// Waits for locks, and the blame for them, are read as they were written.

#include <catch2/catch.hpp>

#include "hpcrun/cct/lock_cells.h"
#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

using namespace prof;
using namespace prof::test;
using hpcrun::LockKind;
using hpcrun::LockRole;

TEST_CASE("sums by lock and context come back, those of other threads' contexts as well") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& waiter = recorder.add_thread();
  RecordedThread& holder = recorder.add_thread();
  std::vector<hpcrun::NodeId> nodes;
  for (uint64_t i = 1; i <= 50; ++i) {
    const hpcrun::FrameKey frame = hpcrun::make_frame(1, i * 16);
    waiter.tree.insert(&frame, 1);
    nodes.push_back(holder.tree.insert(&frame, 1));
  }
  hpcrun::LockCells cells;
  REQUIRE(cells.attach(recorder.file, waiter.arena, 0));
  const auto add = [&](const hpcrun::LockSite& site, uint64_t ns) {
    hpcrun::LockCell* cell = cells.find(site);
    if (!cell) cell = cells.make(site);
    REQUIRE(cell);
    hpcrun::LockCells::add(*cell, ns);
  };
  constexpr uint64_t kLocks = 100;
  for (int round = 0; round < 3; ++round)
    for (uint64_t lock = 0; lock < kLocks; ++lock)
      for (const hpcrun::NodeId node : nodes) {
        add({lock * 64, 0, node, LockKind::Mutex, LockRole::Wait},
            lock + node + static_cast<uint64_t>(round));
        add({lock * 64, 1, node, LockKind::Mutex, LockRole::Blame}, lock);
      }
  cells.seal();
  CHECK(cells.find({0, 0, nodes[0], LockKind::Mutex, LockRole::Wait}) == nullptr);
  recorder.finish();
  const ProcessMeasurement measurement = read_measurement(recorder.path());
  const std::vector<MeasuredLockCell>& read = measurement.threads.at(0).locks;
  REQUIRE(read.size() == 2 * kLocks * nodes.size());
  CHECK(measurement.threads.at(1).locks.empty());
  CHECK(measurement.warnings.empty());
  for (const MeasuredLockCell& cell : read) {
    const uint64_t lock = cell.object / 64;
    const uint64_t total = cell.role == LockRole::Blame ? 3 * lock : 3 * (lock + cell.node) + 3;
    const uint64_t longest = cell.role == LockRole::Blame ? lock : lock + cell.node + 2;
    const bool is_right = cell.waits == 3 && cell.total_ns == total && cell.longest_ns == longest &&
                          cell.kind == LockKind::Mutex &&
                          cell.thread == (cell.role == LockRole::Blame ? 1u : 0u);
    if (!is_right) FAIL("lock " << lock << ", node " << cell.node);
  }
}

TEST_CASE("blame of a thread that is not in the file is left out, and of a lost context is its root's") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& waiter = recorder.add_thread();
  hpcrun::LockCells cells;
  REQUIRE(cells.attach(recorder.file, waiter.arena, 0));
  hpcrun::LockCells::add(*cells.make({64, 9, 1, LockKind::SpinLock, LockRole::Blame}), 5);
  hpcrun::LockCells::add(*cells.make({64, 0, 77, LockKind::SpinLock, LockRole::Wait}), 6);
  cells.seal();
  recorder.finish();
  const ProcessMeasurement measurement = read_measurement(recorder.path());
  const std::vector<MeasuredLockCell>& read = measurement.threads.at(0).locks;
  REQUIRE(read.size() == 1);
  CHECK(read[0].node == 0);
  CHECK(read[0].total_ns == 6);
}

TEST_CASE("a wait that is under way is read until it ends, and what nobody knows is left out") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  RecordedThread& waiter = recorder.add_thread();
  hpcrun::LockCells cells;
  REQUIRE(cells.attach(recorder.file, waiter.arena, 0));
  const auto make = [&](LockKind kind, LockRole role) -> hpcrun::LockCell& {
    return *cells.make({0, 0, 0, kind, role});
  };
  hpcrun::LockCells::set(make(LockKind::Mutex, LockRole::Open), 4096, 1'000, 77);
  hpcrun::LockCell& ended = make(LockKind::Barrier, LockRole::Open);
  hpcrun::LockCells::set(ended, 8192, 2'000, 0);
  hpcrun::LockCells::set(ended, 0, 0, 0);
  hpcrun::LockCell& idle = make(LockKind{}, LockRole::Idle);
  for (int i = 0; i < 2; ++i) hpcrun::LockCells::add(idle, 10, 20, 30);
  hpcrun::LockCells::add(make(LockKind::Mutex, static_cast<LockRole>(99)), 5);
  cells.seal();
  recorder.finish();
  const ProcessMeasurement measurement = read_measurement(recorder.path());
  CHECK(measurement.warnings.empty());
  const std::vector<MeasuredLockCell>& read = measurement.threads.at(0).locks;
  REQUIRE(read.size() == 2);
  CHECK(read[0].role == LockRole::Open);
  CHECK((read[0].waits == 4096 && read[0].total_ns == 1'000 && read[0].longest_ns == 77));
  CHECK(read[1].role == LockRole::Idle);
  CHECK((read[1].waits == 20 && read[1].total_ns == 40 && read[1].longest_ns == 60));
}
