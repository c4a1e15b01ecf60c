#include <catch2/catch.hpp>
#include <numeric>
#include <thread>

#include "analysis/team/team.h"
#include "tests/analysis/database/files.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

Team::Place place(const fs::path& folder, int rank, int size, const std::string& inputs = "same") {
  Team::Place place;
  place.folder = folder;
  place.rank = rank;
  place.size = size;
  place.inputs = [inputs] { return inputs; };
  return place;
}

// What a process of a team comes to: how often it computed, and the sum of all shares.
struct Outcome {
  int computed = 0;
  int sum = 0;
};

Outcome add_up(Team& team) {
  Outcome outcome;
  team.share(
      "sum",
      [&] {
        ++outcome.computed;
        outcome.sum = team.rank() + 1;
      },
      [&](Packer& out) { out(team.rank() + 1); }, [&](Unpacker& in) { outcome.sum += in.get<int>(); });
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
        Team team(place(folder, rank, kSize));
        outcomes[static_cast<size_t>(rank)] = add_up(team);
        team.collect(
            "end", [] {}, [](Packer&) {}, [](Unpacker&) {});  // the first one goes last
        team.finish();
      });
  }
  for (const Outcome& outcome : outcomes) {
    CHECK(outcome.computed == 1);
    CHECK(outcome.sum == 1 + 2 + 3);
  }
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("what an earlier analysis of the same inputs left is taken up, and of others is not") {
  const bool same = GENERATE(true, false);
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts", kept = directory.path() / "kept";
  {
    Team team(place(folder, 0, 1));
    CHECK(add_up(team).computed == 1);
    fs::copy(folder, kept, fs::copy_options::recursive);  // as one that was killed here would leave it
    team.finish();
  }
  fs::remove(kept / "welcome");  // of a process that lives
  fs::rename(kept, folder);
  Team::Place again = place(folder, 0, 1, same ? "same" : "other");
  again.resume = true;
  Team team(again);
  CHECK(team.resumes() == same);
  const Outcome outcome = add_up(team);
  CHECK(outcome.computed == (same ? 0 : 1));
  CHECK(outcome.sum == 1);
  team.finish();
}

TEST_CASE("what a killed team left is removed, but not under one that is at work") {
  const test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "parts";
  Team::remove_abandoned(folder);  // where nothing is
  {
    Team team(place(folder, 0, 1));
    CHECK_THROWS_AS(Team::remove_abandoned(folder), TeamError);
    CHECK(fs::exists(folder));
    team.finish();
  }
  fs::create_directory(folder);
  SharedFolder(folder).write("sum.0", "left", "0");
  Team::remove_abandoned(folder);
  CHECK(fs::is_empty(directory.path()));
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

TEST_CASE("shares weigh about the same, that of the first process a fifth more") {
  std::vector<uint64_t> weights(10'000);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 100 + i % 900;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (const int size : {2, 4, 16}) {
    for (int rank = 0; rank < size; ++rank) {
      CAPTURE(size, rank);
      const auto [begin, end] = share_of(weights, rank, size);
      const double own = std::accumulate(weights.begin() + static_cast<ptrdiff_t>(begin),
                                         weights.begin() + static_cast<ptrdiff_t>(end), 0.0);
      CHECK(own / all == Approx((rank == 0 ? 1.2 : 1) / (size + 0.2)).epsilon(0.01));
    }
  }
}
