#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <thread>

#include "analysis/workers/workers.h"
#include "tests/analysis/database/files.h"
#include "tests/analysis/workers/left_parts.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

AnalysisWorkers::Setup setup(const fs::path& folder, int rank, int size, const std::string& inputs = "same") {
  AnalysisWorkers::Setup setup;
  setup.folder = folder;
  setup.rank = rank;
  setup.size = size;
  setup.inputs = [inputs] { return inputs; };
  return setup;
}

// The result of a worker: how often it computed, and the sum of all shares.
struct Outcome {
  int computed = 0;
  int sum = 0;
};

Outcome add_up(AnalysisWorkers& workers) {
  Outcome outcome;
  workers.share(
      "sum",
      [&] {
        ++outcome.computed;
        outcome.sum = workers.rank() + 1;
      },
      [&](Packer& out) { out(workers.rank() + 1); },
      [&](Unpacker& in, int) { outcome.sum += in.get<int>(); });
  return outcome;
}

}  // namespace

TEST_CASE("all processes get what each has computed, and leave nothing") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  constexpr int kSize = 3;
  std::vector<Outcome> outcomes(kSize);
  {
    std::vector<std::jthread> processes;
    for (int rank = 0; rank < kSize; ++rank)
      processes.emplace_back([&, rank] {
        AnalysisWorkers workers(setup(folder, rank, kSize));
        outcomes[static_cast<size_t>(rank)] = add_up(workers);
        workers.leave();
        workers.finish();
      });
  }
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.computed == 1);
    CHECK(outcome.sum == 1 + 2 + 3);
  }
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("the first process leaves last, whatever an earlier analysis left") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts", kept = directory.path() / "kept";
  const auto of = [&](int rank) {
    AnalysisWorkers::Setup both = setup(folder, rank, 2);
    both.resume = true;
    return both;
  };
  {
    std::jthread other([&] {
      AnalysisWorkers workers(of(1));
      add_up(workers);
      workers.leave();
      workers.finish();
    });
    AnalysisWorkers workers(of(0));
    add_up(workers);
    workers.leave();
    test::copy_as_left(folder, kept);
    workers.finish();
  }
  fs::rename(kept, folder);
  std::atomic<bool> has_left = false;
  bool came_last = false;
  Outcome outcome;
  {
    std::jthread other([&] {
      AnalysisWorkers workers(of(1));
      // The first process has everything that it needs meanwhile.
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      outcome = add_up(workers);
      has_left = true;
      workers.leave();
      workers.finish();
    });
    AnalysisWorkers workers(of(0));
    REQUIRE(workers.resumes());
    CHECK(add_up(workers).computed == 0);
    workers.leave();
    came_last = has_left;
    workers.finish();
  }
  CHECK(came_last);
  CHECK(outcome.computed == 0);
  CHECK(outcome.sum == 3);
}

TEST_CASE("what an earlier analysis of the same inputs left is taken up, and of others is not") {
  const bool same = GENERATE(true, false);
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts", kept = directory.path() / "kept";
  {
    AnalysisWorkers workers(setup(folder, 0, 1));
    CHECK(add_up(workers).computed == 1);
    test::copy_as_left(folder, kept);
    workers.finish();
  }
  fs::rename(kept, folder);
  AnalysisWorkers::Setup again = setup(folder, 0, 1, same ? "same" : "other");
  again.resume = true;
  AnalysisWorkers workers(again);
  CHECK(workers.resumes() == same);
  const Outcome outcome = add_up(workers);
  CHECK(outcome.computed == (same ? 0 : 1));
  CHECK(outcome.sum == 1);
  workers.finish();
}

TEST_CASE("what was passed is passed when the analysis goes on, and not in another one") {
  const bool same = GENERATE(true, false);
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts", kept = directory.path() / "kept";
  {
    AnalysisWorkers workers(setup(folder, 0, 1));
    CHECK_FALSE(workers.has_passed("end"));
    workers.pass("end");
    CHECK(workers.has_passed("end"));
    CHECK_FALSE(workers.has_passed("other"));
    test::copy_as_left(folder, kept);
    workers.finish();
  }
  fs::rename(kept, folder);
  AnalysisWorkers::Setup again = setup(folder, 0, 1, same ? "same" : "other");
  again.resume = true;
  AnalysisWorkers workers(again);
  CHECK(workers.has_passed("end") == same);
  workers.finish();
}

TEST_CASE("a process alone passes nothing") {
  AnalysisWorkers::alone().pass("end");
  CHECK_FALSE(AnalysisWorkers::alone().has_passed("end"));
}

TEST_CASE("what killed workers left is removed, but not under some that are at work") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  AnalysisWorkers::remove_abandoned(folder);  // there is nothing to remove
  {
    AnalysisWorkers workers(setup(folder, 0, 1));
    CHECK_THROWS_AS(AnalysisWorkers::remove_abandoned(folder), WorkersError);
    CHECK(fs::exists(folder));
    workers.finish();
  }
  fs::create_directory(folder);
  SharedFolder(folder).write("sum.0", "left");
  AnalysisWorkers::remove_abandoned(folder);
  CHECK(fs::is_empty(directory.path()));
}

namespace {

// Leaves what a process leaves that ended abruptly, after it had saved `part` as its share.
void leave(const fs::path& folder, const std::string& part) {
  fs::path kept = folder;
  kept += ".kept";
  {
    AnalysisWorkers workers(setup(folder, 0, 1));
    test::copy_as_left(folder, kept);
    workers.finish();
  }
  fs::rename(kept, folder);
  SharedFolder(folder).write("sum.0", part);
}

AnalysisWorkers::Setup resumed(const fs::path& folder) {
  AnalysisWorkers::Setup again = setup(folder, 0, 1);
  again.resume = true;
  return again;
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const WorkersError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("a share that is shorter or longer than what is taken of it is refused") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  const std::string part = GENERATE("", "abc", "abcde");  // an int has 4
  leave(folder, part);
  AnalysisWorkers workers(resumed(folder));
  REQUIRE(workers.resumes());
  const std::string said = failure_of([&] { add_up(workers); });
  CAPTURE(said);
  CHECK(said.starts_with((folder / "sum.0").string() + ": was not written by this prof: it is "));
  CHECK(said.ends_with("analyze again, without --resume"));
}

TEST_CASE("a share that names what is not there is refused, also where the first has made it for all") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  leave(folder, std::string(4, '\1'));
  AnalysisWorkers workers(resumed(folder));
  const auto load = [](Unpacker& in, int rank) {
    Unpacker::require(in.get<int>() < 5 && rank == 0, "it is of other things");
  };
  CHECK(failure_of([&] {
          workers.share(
              "sum", [] {}, [](Packer&) {}, load);
        }).find("it is of other things") != std::string::npos);
  int made = 0;
  workers.from_first(
      "sum", [] {}, made);
  CHECK(made == 0x01010101);
  CHECK(failure_of([&] { workers.require(made < 5, "sum", 0, "it is of other things"); }).find("sum.0") !=
        std::string::npos);
}

TEST_CASE("an own share that was damaged on the disk is computed anew") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  leave(folder, std::string(4, '\1'));
  test::write_bytes(folder / "sum.0", "damaged");
  AnalysisWorkers workers(resumed(folder));
  CHECK_FALSE(fs::exists(folder / "sum.0"));
  CHECK(add_up(workers).computed == 1);
}

TEST_CASE("a share that is damaged while its process lives ends who waits for it") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  std::string said;
  {
    std::jthread other([&] {
      AnalysisWorkers workers(setup(folder, 1, 2));
      test::write_bytes(folder / "sum.1", "damaged");
      while (!SharedFolder(folder).has("failed") && SharedFolder(folder).refresh())
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
    AnalysisWorkers workers(setup(folder, 0, 2));
    said = failure_of([&] { add_up(workers); });
  }
  CHECK(said ==
        (folder / "sum.1").string() + ": differs from the data written; choose another directory with -o");
}

TEST_CASE("processes of different programs do not work together") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  std::vector<std::string> said(2);
  {
    std::vector<std::jthread> processes;
    for (int rank = 0; rank < 2; ++rank)
      processes.emplace_back([&, rank] {
        AnalysisWorkers::Setup of = setup(folder, rank, 2);
        of.program = rank == 0 ? "prof 1" : "prof 2";
        said[static_cast<size_t>(rank)] = failure_of([&] { const AnalysisWorkers workers(of); });
      });
  }
  CHECK(said[0].find("is prof 2, but process 0 is prof 1; start the same prof on all nodes") !=
        std::string::npos);
  CHECK(said[1].empty());
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("what another prof left is no obstacle") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  fs::create_directory(folder);
  SharedFolder(folder).write("welcome", "said in other words");
  AnalysisWorkers workers(setup(folder, 0, 1));
  CHECK(add_up(workers).computed == 1);
  workers.finish();
}

TEST_CASE("the shares of processes follow each other and are all the pieces") {
  const size_t pieces = GENERATE(0u, 1u, 2u, 5u, 1000u);
  const int size = GENERATE(1, 2, 3, 7, 64);
  CAPTURE(pieces, size);
  std::vector<uint64_t> weights(pieces);
  for (size_t i = 0; i < pieces; ++i) weights[i] = i * i % 37;
  size_t next = 0;
  for (int rank = 0; rank < size; ++rank) {
    const auto [begin, end] = share_of(weights, rank, size);
    CHECK(begin == next);
    CHECK(end >= begin);
    next = end;
  }
  CHECK(next == pieces);
}

TEST_CASE("shares weigh about the same") {
  std::vector<uint64_t> weights(10'000);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 100 + i % 900;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const int size : {2, 4, 16}) {
    for (int rank = 0; rank < size; ++rank) {
      CAPTURE(size, rank);
      const auto [begin, end] = share_of(weights, rank, size);
      const double own = std::accumulate(weights.begin() + static_cast<ptrdiff_t>(begin),
                                         weights.begin() + static_cast<ptrdiff_t>(end), 0.0);
      CHECK(own / all == Approx(1.0 / size).epsilon(0.01));
    }
  }
}
