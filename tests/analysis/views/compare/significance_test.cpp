// Which differences are chance and which are not. Values of distributions are from published tables.

#include "analysis/views/compare/significance.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

using namespace prof;

namespace {

RowOfRuns row(const std::vector<double>& before, const std::vector<double>& after) {
  RowOfRuns row;
  for (const double cost : before) row.before.push_back({cost, 0});
  for (const double cost : after) row.after.push_back({cost, 0});
  return row;
}

}  // namespace

TEST_CASE("p of Student's t is that of the tables") {
  CHECK(p_of_t(12.706, 1) == Approx(0.05).epsilon(1e-3));
  CHECK(p_of_t(-2.776, 4) == Approx(0.05).epsilon(1e-3));
  CHECK(p_of_t(4.604, 4) == Approx(0.01).epsilon(1e-3));
  CHECK(p_of_t(3.646, 30) == Approx(0.001).epsilon(1e-3));
  CHECK(p_of_t(1.96, std::numeric_limits<double>::infinity()) == Approx(0.05).epsilon(1e-3));
  CHECK(p_of_t(0, 7) == 1);
  CHECK(p_of_t(1e9, 3) < 1e-20);
}

TEST_CASE("Holm's p of many rows are larger, in the order of their own") {
  CHECK(holm_adjusted({0.01, 0.04, 0.03, 0.005}) == std::vector<double>{0.03, 0.06, 0.06, 0.02});
  CHECK(holm_adjusted({0.6, 0.7}) == std::vector<double>{1, 1});
  CHECK(holm_adjusted({}).empty());
}

TEST_CASE("samples vary as their number has it, and all of a run not at all") {
  // 1,000 samples of 1 ms. 100 of them have the variance 100 * 0.9, plus one for code that was narrowly
  // missed.
  CHECK(sampled_cost(0.1, 1, 1000).variance == Approx(101e-6 * 0.9));
  CHECK(sampled_cost(1, 1, 1000).variance == 0);
  CHECK(sampled_cost(0, 1, 1000).variance == Approx(1e-6));
  CHECK(sampled_cost(0.1, 1, 0).variance == 0);
}

TEST_CASE("one run a side is judged by its samples and an assumed deviation") {
  const auto judged = [](double samples, double after) {
    return judge({{{sampled_cost(1, 4, samples)}, {sampled_cost(after, 4, samples)}}});
  };
  CHECK_FALSE(judged(4000, 1.5).run_to_run.is_measured);
  CHECK(judged(4000, 1.5).run_to_run.deviation == kAssumedDeviation);
  CHECK(judged(4000, 1.5).rows[0].adjusted < kSignificant);
  CHECK(judged(40, 1.5).rows[0].adjusted > kSignificant);
  CHECK(judged(4e9, 1.05).rows[0].adjusted > kSignificant);
}

TEST_CASE("several runs a side tell how much runs differ by themselves") {
  const Judgement quiet = judge({row({10, 10.1, 9.9, 10}, {11, 11.1, 10.9, 11})});
  CHECK(quiet.run_to_run.is_measured);
  CHECK(quiet.run_to_run.deviation == Approx(0.0079).epsilon(0.05));
  CHECK(quiet.rows[0].adjusted < 1e-4);
  const Judgement noisy = judge({row({10, 12, 8, 10}, {11, 13, 9, 11})});
  CHECK(noisy.run_to_run.deviation > 0.1);
  CHECK(noisy.rows[0].adjusted > 0.2);
}

TEST_CASE("two runs that are alike by chance are not believed") {
  CHECK(judge({row({10, 10}, {10.6, 10.6})}).run_to_run.deviation == kAssumedDeviation);
  CHECK(judge({row({10, 10, 10}, {10.6, 10.6, 10.6})}).run_to_run.deviation < kAssumedDeviation);
}

TEST_CASE("nothing is different between equals") {
  const Judgement judgement = judge({row({5, 5, 5}, {5, 5, 5}), row({0, 0, 0}, {0, 0, 0})});
  CHECK(judgement.rows[0].adjusted == 1);
  CHECK(judgement.rows[1].adjusted == 1);
}

// The figures of docs/ci.md. Prints in how many of 1,000 comparisons something is found in equal runs, and in
// how many a 15 % increase of a function with 30 % of the samples.
TEST_CASE("how often a comparison is right", "[.rates]") {
  const std::vector<double> shares = {0.3, 0.25, 0.2, 0.1, 0.08, 0.04, 0.03};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto compare = [&](size_t runs, double samples, double deviation, double slower) {
    std::vector<RowOfRuns> rows(shares.size());
    for (size_t run = 0; run < 2 * runs; ++run) {
      const double speed = samples * (1 + deviation * normal(random));
      std::vector<double> costs;
      double all = 0;
      for (size_t i = 0; i < shares.size(); ++i) {
        const double expected = shares[i] * speed * (i == 0 && run >= runs ? 1 + slower : 1);
        costs.push_back(std::poisson_distribution<int>(expected)(random));
        all += costs.back();
      }
      for (size_t i = 0; i < shares.size(); ++i)
        (run < runs ? rows[i].before : rows[i].after).push_back(sampled_cost(costs[i], all, all));
    }
    return judge(rows).rows;
  };
  for (const size_t runs : {1, 2, 3, 5, 10})
    for (const double samples : {1000.0, 3000.0, 10000.0})
      for (const double deviation : {0.0, 0.02}) {
        int wrong = 0, right = 0;
        for (int turn = 0; turn < 1000; ++turn) {
          bool is_any = false;
          for (const Significance& row : compare(runs, samples, deviation, 0))
            is_any |= row.adjusted < kSignificant;
          wrong += is_any;
          right += compare(runs, samples, deviation, 0.15)[0].adjusted < kSignificant;
        }
        std::printf(
            "%2zu runs a side of %5.0f samples, which differ by %.0f %%: found %4d, found in equals %3d\n",
            runs, samples, deviation * 100, right, wrong);
      }
}
