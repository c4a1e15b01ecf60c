// A file that several processes write together. Here they are threads, each with AnalysisWorkers of its own
// in the same folder.

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <thread>

#include "analysis/database/pieced_file.h"
#include "tests/analysis/database/files.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

const format::FileKind& kKind = format::kProfile;

// Returns text of some length, which may be 0; each piece has its own letter.
std::string text_of(size_t piece) {
  return std::string(piece * 7 % 11 * 100, static_cast<char>('a' + piece % 26));
}

OutputBuffer bytes_of(size_t piece) {
  OutputBuffer bytes;
  bytes.append(text_of(piece));
  return bytes;
}

std::string expected(size_t pieces) {
  std::string all(PiecedFile::first_place(kKind), '\0');
  for (size_t piece = 0; piece < pieces; ++piece) all += text_of(piece);
  return all;
}

// Runs the function as each of so many workers. Returns how many of them failed.
int in_processes(const fs::path& folder, int size, const std::function<void(AnalysisWorkers&)>& run) {
  std::atomic<int> failures{0};
  std::vector<std::jthread> processes;
  for (int rank = 0; rank < size; ++rank)
    processes.emplace_back([&, rank] {
      AnalysisWorkers::Setup setup;
      setup.folder = folder / "parts";
      setup.rank = rank;
      setup.size = size;
      try {
        AnalysisWorkers workers(setup);
        run(workers);
        workers.leave();
        workers.finish();
      } catch (const WorkersError&) {
        ++failures;
      }
    });
  processes.clear();
  return failures;
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace

TEST_CASE("turns give each piece to one process, so many at a time") {
  const Turns turns{11, 2, 3};
  CHECK(turns.of(0) == std::vector<size_t>{0, 1, 6, 7});
  CHECK(turns.of(1) == std::vector<size_t>{2, 3, 8, 9});
  CHECK(turns.of(2) == std::vector<size_t>{4, 5, 10});
  CHECK(turns.owner(10) == 2);
  CHECK(Turns{3, 1, 2}.places({{10, 5}, {7}}, 100) == std::vector<uint64_t>{100, 110, 117, 122});
  CHECK(Turns{0, 1, 2}.places({{}, {}}, 100) == std::vector<uint64_t>{100});
}

TEST_CASE("pieces of processes follow each other, whichever is the slowest") {
  constexpr size_t kPieces = 23;
  for (const int slowest : {0, 1, 2}) {
    CAPTURE(slowest);
    const test::TemporaryDirectory directory;
    const int failures = in_processes(directory.path(), 3, [&](AnalysisWorkers& workers) {
      const Turns turns{kPieces, 2, workers.size()};
      PiecedFile file(directory.path(), kKind, workers, turns);
      for (const size_t piece : turns.of(workers.rank())) {
        if (workers.rank() == slowest) pause(5);
        file.put(bytes_of(piece));
      }
      file.close();
    });
    CHECK(failures == 0);
    CHECK(test::read_bytes(directory.path() / kKind.name) == expected(kPieces));
  }
}

TEST_CASE("one process writes all pieces, and a file without any is there as well") {
  const test::TemporaryDirectory directory;
  for (const size_t pieces : {size_t{5}, size_t{0}}) {
    fs::remove(directory.path() / kKind.name);
    PiecedFile file(directory.path(), kKind, AnalysisWorkers::alone(), {pieces, 1, 1});
    for (size_t piece = 0; piece < pieces; ++piece) file.put(bytes_of(piece));
    file.close();
    const std::string written = test::read_bytes(directory.path() / kKind.name);
    CHECK(written == (pieces ? expected(pieces) : ""));
  }
}

TEST_CASE("a process that is ahead waits before it has too much in memory") {
  const test::TemporaryDirectory directory;
  std::atomic<int> put{0};
  std::optional<int> put_meanwhile;
  in_processes(directory.path(), 2, [&](AnalysisWorkers& workers) {
    const Turns turns{20, 1, 2};
    PiecedFile file(directory.path(), kKind, workers, turns, 1'000);
    if (workers.is_first()) {
      while (put == 0) pause(1);
      pause(100);
      put_meanwhile = put.load();
    }
    for (const size_t piece : turns.of(workers.rank())) {
      file.put(bytes_of(piece));
      if (!workers.is_first()) ++put;
    }
    file.close();
  });
  // 700, 1,000 and so on bytes: the second piece exceeds the limit.
  CHECK(put_meanwhile == 1);
  CHECK(test::read_bytes(directory.path() / kKind.name) == expected(20));
}

TEST_CASE("where a process fails, those that wait for its pieces end") {
  const test::TemporaryDirectory directory;
  const int failures = in_processes(directory.path(), 2, [&](AnalysisWorkers& workers) {
    PiecedFile file(directory.path(), kKind, workers, {2, 1, 2});
    if (workers.is_first()) {
      pause(50);
      throw WorkersError("no more");
    }
    file.put(bytes_of(1));
    file.close();
  });
  CHECK(failures == 2);
}
