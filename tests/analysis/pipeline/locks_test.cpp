// Waits that were interrupted by the end of a process, and which thread waited for which.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/pipeline/pipeline.h"
#include "hpcrun/cct/lock_cells.h"
#include "hpcrun/measurement/lock_metrics.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/measured_program.h"

namespace {

using namespace prof;
using namespace prof::test;
using hpcrun::LockCells;
using hpcrun::LockKind;
using hpcrun::LockRole;

constexpr uint64_t kFirst = 0x1000, kSecond = 0x2000;

// Three threads, with ids from 100.
class Waiters {
 public:
  Waiters() : recorder_(directory_ / "a.prof") {
    describe(recorder_.file, fixture_module());
    announce(hpcrun::kLockMetrics, recorder_.file);
    recorder_.file.counter(hpcrun::Counter::FollowsLocks).store(hpcrun::kFollowsLocks);
    for (uint32_t i = 0; i < 3; ++i) {
      recorder_.file.write_thread_start(i, static_cast<int>(100 + i), kStartMonotonic, "worker");
      RecordedThread& thread = recorder_.add_thread();
      sample(thread, {fixture_places().outer}, kTime, kMillisecond);
      REQUIRE(cells_[i].attach(recorder_.file, thread.arena, i));
    }
  }

  // Adds a wait since `ms` after the start; `holder` had the lock then.
  void wait(uint32_t thread, uint64_t lock, uint64_t ms, uint64_t holder, LockKind kind = LockKind::Mutex) {
    hpcrun::LockCell* const cell = cells_[thread].make({0, thread, 1, kind, LockRole::Open});
    LockCells::set(*cell, lock, kStartMonotonic + ms * kMillisecond, holder);
  }
  void see(uint32_t thread, uint64_t lock, uint64_t ms, uint64_t holder) {
    hpcrun::LockCell* const cell = cells_[thread].make({lock, thread, 0, LockKind::Mutex, LockRole::Held});
    LockCells::set(*cell, 1, kStartMonotonic + ms * kMillisecond, holder);
  }
  void work(uint32_t thread, uint64_t ms, uint64_t idle, uint64_t working) {
    hpcrun::LockCell* const cell = cells_[thread].make({0, thread, 1, LockKind{}, LockRole::Idle});
    const uint64_t ns = ms * kMillisecond;
    LockCells::add(*cell, ns, ns * idle / working, ns * idle);
  }

  // Returns the locks in run.json for a process that ended 100 ms after its start.
  nlohmann::json locks() {
    for (LockCells& cells : cells_) cells.seal();
    recorder_.finish(kStartMonotonic + 100 * kMillisecond);
    analysis_ = analyze({directory_.path()});
    return run_of(analysis_.database)["locks"];
  }

 private:
  TemporaryDirectory directory_;
  Recorder recorder_;
  LockCells cells_[3];
  Analysis analysis_;
};

}  // namespace

TEST_CASE("a circle whose holders were seen while all waited is a deadlock") {
  Waiters waiters;
  waiters.wait(0, kFirst, 20, 102);  // the second thread got the lock later
  waiters.wait(1, kSecond, 40, 100);
  waiters.see(1, kSecond, 40, 100);
  waiters.see(1, kFirst, 40, 101);
  waiters.wait(2, kFirst, 50, 101);
  const nlohmann::json locks = waiters.locks();
  REQUIRE(locks["open"].size() == 3);
  CHECK(locks["open"][0]["deadlock"] == 1);
  CHECK(locks["open"][0]["holder"] == 101);
  CHECK(locks["open"][0]["seconds"] == Approx(0.080));
  CHECK(locks["open"][1]["deadlock"] == 1);
  CHECK(locks["open"][1]["seconds"] == Approx(0.060));
  // Waits for a thread of the deadlock, without being part of it.
  CHECK(locks["open"][2]["thread"] == 102);
  CHECK(locks["open"][2]["deadlock"] == 0);
  CHECK(locks["open"][2]["is_confirmed"] == false);
  CHECK(locks["locks"][0]["open_s"] == Approx(0.130));
}

TEST_CASE("what was known of holders as waits began makes no deadlock") {
  Waiters waiters;
  waiters.wait(0, kFirst, 20, 101);
  waiters.wait(1, kSecond, 40, 100);
  waiters.see(2, kFirst, 10, 101);  // before that wait
  waiters.see(2, kSecond, 90, 100);
  const nlohmann::json locks = waiters.locks();
  REQUIRE(locks["open"].size() == 2);
  for (const nlohmann::json& wait : locks["open"]) CHECK(wait["deadlock"] == 0);
}

TEST_CASE("waiting for other threads goes on to the end, and work meanwhile has its blame") {
  Waiters waiters;
  waiters.wait(0, 0, 30, 0, LockKind::Join);
  waiters.wait(1, kFirst, 60, 0, LockKind::Condition);
  waiters.work(2, 10, 2, 1);
  waiters.work(0, 4, 1, 2);
  const nlohmann::json locks = waiters.locks();
  CHECK(locks["open"].empty());
  REQUIRE(locks["blocked"].size() == 2);
  CHECK(locks["blocked"][0]["kind"] == "end of a thread");
  CHECK(locks["blocked"][0]["seconds"] == Approx(0.070));
  CHECK(locks["blocked"][0]["open"] == 1);
  CHECK(locks["blocked"][1]["seconds"] == Approx(0.040));
  double blame = 0;
  for (const nlohmann::json& work : locks["idle"]) blame += work["seconds"].get<double>();
  CHECK(blame == Approx(0.022));
}
