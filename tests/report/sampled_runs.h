#pragma once
// Runs of a synthetic program with random samples, for tests of comparisons. It has seven functions, of which
// "hot" may become slower.

#include <fmt/format.h>

#include <random>

#include "analysis/views/compare/matched_runs.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"

namespace prof::test {

struct SampledProgram {
  double samples = 3000;    // per run, about
  double deviation = 0.01;  // from run to run, of the whole run
  double slower = 0;        // by how much hot is slower; 0.15: 15 %
  int32_t ranks = 0;        // 0: none
  double waiting = 0;       // samples in "wait", which hot calls, per rank
  std::string prefix = {};  // of the name of hot in the run
};

inline Database sampled_run(const SampledProgram& program, uint64_t seed) {
  struct Part {
    const char* function;
    uint32_t line;
    double share;
  };
  constexpr Part kParts[] = {{"hot", 12, 0.3},   {"parse", 20, 0.25}, {"sort", 30, 0.2}, {"hash", 40, 0.1},
                             {"copy", 50, 0.08}, {"print", 60, 0.04}, {"rest", 70, 0.03}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const double speed = 1 + program.deviation * normal(random);
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  for (const Part& part : kParts) b.function(part.function, "work.cpp", "/bin/app", part.line - 2);
  double samples = 0;
  const int32_t ranks = std::max(program.ranks, 1);
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const uint32_t thread = b.thread(0, "app", program.ranks > 0 ? rank : -1);
    const auto spend = [&](const std::vector<At>& path, double expected) {
      const auto count = static_cast<double>(std::poisson_distribution<int>(expected)(random));
      if (count > 0) b.spend(thread, path, count * 1e-3);
      samples += count;
    };
    for (const Part& part : kParts) {
      const bool is_hot = std::string(part.function) == "hot";
      const double expected =
          program.samples * part.share * speed * (is_hot ? 1 + program.slower : 1) / ranks;
      const std::string name = is_hot ? program.prefix + "hot" : part.function;
      spend({{"main", 5}, {name, part.line}}, expected);
    }
    if (program.waiting > 0)
      spend({{"main", 5}, {program.prefix + "hot", 13}, {"wait", 90}}, program.waiting);
  }
  b.database.title = "app";
  set_run_text(
      b.database,
      fmt::format(
          R"({{"sampling": {{"samples": {0}, "metrics": {{"CPUTIME": {{"samples": {0}}}}}}}, "run": {{"ranks": {1}}}}})",
          samples, program.ranks));
  return b.build();
}

inline void match_runs(MatchedRuns& runs, const std::vector<Database>& before,
                       const std::vector<Database>& after) {
  RunMatcher matcher("");
  for (const Database& database : before) matcher.add(database, "before", "before", false);
  for (const Database& database : after) matcher.add(database, "after", "after", true);
  matcher.finish(runs);
}

inline std::vector<Database> sampled_runs(const SampledProgram& program, uint64_t seed, int count) {
  std::vector<Database> runs;
  for (int i = 0; i < count; ++i) runs.push_back(sampled_run(program, seed + static_cast<uint64_t>(i)));
  return runs;
}

}  // namespace prof::test
