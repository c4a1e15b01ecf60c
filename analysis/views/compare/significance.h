#pragma once
// Tests whether costs that were sampled in two sets of runs differ by more than runs of the same program do.
// Works for few runs per side, even one. Is independent of functions: a row is any quantity that was measured
// in every run.

#include <cstddef>
#include <optional>
#include <vector>

namespace prof {

// The cost of a row in one run, and the variance due to sampling: n samples of all of a run's have the
// variance n (1 - n / all), in units of the cost of a sample.
struct SampledCost {
  double cost = 0;
  double variance = 0;
};

// `all` is the cost of the run, which was sampled `samples` times. A row without samples has the variance of
// one sample, because it may nearly have been sampled. If the run has no samples, the variance is not known,
// and 0.
SampledCost sampled_cost(double cost, double all, double samples);

struct RowOfRuns {
  std::vector<SampledCost> before, after;  // at least one each; the same number in every row
};

// How much runs of the same program differ, as a share of the cost, beyond the effect of sampling.
struct RunToRun {
  double deviation = 0;      // 0..1, standard deviation
  bool is_measured = false;  // from several runs of one side at least; otherwise assumed
};

struct Significance {
  double p = 1;         // for this row alone: that equals differ as much, in either direction
  double adjusted = 1;  // Holm's: that any row differs as much if none has changed; 0..1
};

struct Judgement {
  RunToRun run_to_run;
  std::vector<Significance> rows;
};

// If both sides have one run only, nothing shows how much runs differ, and kAssumedDeviation is used. If one
// side has fewer than kRunsThatTell runs, it is the minimum: two runs may be alike by chance.
// Welch's t test with moderated variances. The variance of a row combines the variance over its runs with the
// one that its samples and the common deviation of all rows (weighted by cost) predict, weighted by degrees
// of freedom. It is never below that of the samples alone. As in G. K. Smyth, Linear models and empirical
// Bayes methods for assessing differential expression in microarray experiments (2004), which is for as few
// runs and as many rows.
Judgement judge(const std::vector<RowOfRuns>& rows);

constexpr double kAssumedDeviation = 0.03;  // of CPU time on a machine that does little else
constexpr size_t kRunsThatTell = 3;
constexpr double kSignificant = 0.01;  // adjusted p below which a difference is significant

// Two-sided p of Student's t with these degrees of freedom (above 0); infinite: the normal distribution.
double p_of_t(double t, double degrees);

// Returns Holm's adjusted p, in the order given. Holm, A simple sequentially rejective multiple test
// procedure (1979).
std::vector<double> holm_adjusted(const std::vector<double>& p);

}  // namespace prof
