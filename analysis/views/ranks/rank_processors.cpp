#include "analysis/views/ranks/rank_processors.h"

#include <algorithm>

#include "analysis/views/ranks/late_ranks.h"

namespace prof {
namespace {

// The time in which MPI_Init sleeps, or the last rank to start arrives.
constexpr double kStartSeconds = 1;

// The share of the time: ranks that compute for less have too few samples to show how long they waited.
constexpr double kMinReady = 0.02;

std::optional<double> share(double had_s, double known_s) {
  return known_s > 0 ? std::optional(std::min(1.0, had_s / known_s)) : std::nullopt;
}

std::optional<double> while_computing(const RankCosts& costs) {
  double cpu_s = 0, ready_s = 0, all_s = 0;
  for (const RankCost& rank : costs.ranks) {
    cpu_s += rank.track_ready_cpu_s;
    ready_s += rank.track_ready_s;
    all_s += rank.track_s;
  }
  return cpu_s > 0 && ready_s > kMinReady * all_s ? share(cpu_s, ready_s) : std::nullopt;
}

std::optional<double> while_waiting(const RunSummary& run, const RankCosts& costs,
                                    const std::vector<uint32_t>& waiting) {
  const std::optional<double> run_s = run.program_s ? run.program_s : run.wall_s;
  if (!run_s || std::ranges::any_of(costs.ranks, &RankCost::uses_devices)) return std::nullopt;
  double spent_s = 0;
  for (const uint32_t rank : waiting) spent_s += costs.ranks[rank].track_s;
  return share(spent_s, static_cast<double>(waiting.size()) * (*run_s - kStartSeconds));
}

}  // namespace

const std::vector<double>& ProcessorShare::traced(double period_s, int jobs) {
  if (!traced_) traced_ = traced_seconds(tree_, costs_, period_s, jobs);
  return *traced_;
}

std::optional<double> ProcessorShare::of(const std::vector<uint32_t>& waiting, double period_s, int jobs) {
  const std::string& metric = tree_.metric(costs_.metric).name;
  if (metric == "REALTIME") return while_computing(costs_);
  if (metric != "CPUTIME") return std::nullopt;
  double had_s = 0, known_s = 0;
  const std::vector<double>& all = traced(period_s, jobs);
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r] == 0) continue;
    had_s += costs_.ranks[r].track_s;
    known_s += all[r];
  }
  return known_s > 0 ? share(had_s, known_s) : while_waiting(run_, costs_, waiting);
}

double ProcessorShare::lack_of(const std::vector<uint32_t>& ranks, double period_s, int jobs) {
  if (tree_.metric(costs_.metric).name != "CPUTIME" || ranks.empty()) return 0;
  const std::vector<double>& all = traced(period_s, jobs);
  double lack_s = 0;
  for (const uint32_t r : ranks) lack_s += std::max(0.0, all[r] - costs_.ranks[r].track_s);
  return lack_s / static_cast<double>(ranks.size());
}

}  // namespace prof
