#pragma once
// Whether costs that were sampled in some runs differ from those of some other runs by more than runs of the
// same thing differ by themselves. For a few runs a side, one included. Knows nothing of functions: a row is
// whatever was measured in every run.

#include <cstddef>
#include <optional>
#include <vector>

namespace prof {

// What a row cost in one run, and how far that is from what it really cost, as samples are few: the variance
// of n samples of those of a run is n (1 - n / all), in units of a sample's cost.
struct SampledCost {
  double cost = 0;
  double variance = 0;
};

// Of `all`, the run's cost, that was sampled `samples` times. What was not met might have been nearly:
// nothing has the variance of one sample. Without samples the variance is not known, and 0.
SampledCost sampled_cost(double cost, double all, double samples);

struct RowOfRuns {
  std::vector<SampledCost> before, after;  // at least one each; every row has as many
};

// How much a run differs from another one of the same, as a share of the cost, beyond what samples explain.
struct RunToRun {
  double deviation = 0;      // 0..1, standard deviation
  bool is_measured = false;  // from several runs of one side at least; else assumed
};

struct Significance {
  double p = 1;         // of this row alone: as large a difference between equals, in either direction
  double adjusted = 1;  // Holm's: any of all rows has such a difference where none is different; 0..1
};

struct Judgement {
  RunToRun run_to_run;
  std::vector<Significance> rows;
};

// Where both sides have one run only, no run says how much another one differs, and kAssumedDeviation is
// taken. Where one has fewer than kRunsThatTell it is taken at least: two runs may be alike by chance.
//
// Welch's t test with moderated variances: that of a row is its own over the runs, and what its samples and
// the deviation common to all rows (weighted by cost) predict, weighted by degrees of freedom; never less
// than what the samples alone make. As in G. K. Smyth, Linear models and empirical Bayes methods for
// assessing differential expression in microarray experiments (2004), which is for as few runs and as many
// rows.
Judgement judge(const std::vector<RowOfRuns>& rows);

constexpr double kAssumedDeviation = 0.03;  // of CPU time on a machine that does little else
constexpr size_t kRunsThatTell = 3;
constexpr double kSignificant = 0.01;  // adjusted p below which a difference is none of chance

// Two-sided p of Student's t with these degrees of freedom (above 0); infinite: the normal distribution.
double p_of_t(double t, double degrees);

// Holm, A simple sequentially rejective multiple test procedure (1979). In the order given.
std::vector<double> holm_adjusted(const std::vector<double>& p);

}  // namespace prof
