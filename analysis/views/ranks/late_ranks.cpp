#include "analysis/views/ranks/late_ranks.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>

#include "analysis/database/parallel_for.h"
#include "analysis/views/ranks/rank_processors.h"

namespace prof {
namespace {

constexpr double kNsPerSecond = 1e9;

// The activity of a rank's thread, from record to record.
class Track {
 public:
  Track(const CallTree& tree, const RankCosts& costs, const RankCost& rank, uint64_t period_ns)
      : costs_(costs),
        trace_(tree.database->traces[rank.track]),
        period_ns_(period_ns),
        longest_ns_(tree.metric(costs.metric).name == "REALTIME" ? std::numeric_limits<uint64_t>::max()
                                                                 : kLongestStretch * period_ns) {}

  // Calls wait(begin, end) for each wait that is long enough, and work(begin, end, location), in order of
  // time.
  template <typename Wait, typename Work>
  void visit(Wait wait, Work work) {
    uint64_t wait_begin = 0, wait_end = 0;
    const auto end_wait = [&] {
      if (wait_end - wait_begin >= kMinWait * period_ns_) wait(wait_begin, wait_end);
      wait_begin = wait_end = 0;
    };
    TraceRecord last{0, kNone};
    for (std::vector<TraceRecord> block; trace_(block);) {
      for (const TraceRecord& record : block) {
        const uint64_t end = std::min(record.time_ns, last.time_ns + std::min(longest_ns_, record.time_ns));
        const uint32_t location = last.context == kNone ? kNone : costs_.location_of[last.context];
        const RankActivity activity =
            location == kNone ? RankActivity::Start : costs_.locations[location].activity;
        if (activity == RankActivity::Communication) {
          if (wait_end != last.time_ns) end_wait();
          if (wait_end == 0) wait_begin = last.time_ns;
          wait_end = end;
        } else {
          end_wait();
          if (activity != RankActivity::Start && end > last.time_ns) work(last.time_ns, end, location);
        }
        last = record;
      }
    }
    end_wait();
  }

 private:
  const RankCosts& costs_;
  TraceSource trace_;
  uint64_t period_ns_, longest_ns_;
};

// Accumulates how many ranks wait and work: ns of ranks, in equal parts of the run.
class Bins {
 public:
  Bins(uint64_t begin_ns, uint64_t end_ns, uint64_t period_ns)
      : begin_ns_(begin_ns),
        bin_ns_(std::max({uint64_t{1}, period_ns / 2, (end_ns - begin_ns) / kMaxBins + 1})),
        bins_((end_ns - begin_ns) / bin_ns_ + 1) {}

  void add_wait(uint64_t begin, uint64_t end) {
    each(begin, end, [](Bin& bin, uint64_t ns) { bin.waiting.fetch_add(ns, std::memory_order_relaxed); });
  }
  void add_work(uint64_t begin, uint64_t end) {
    each(begin, end, [](Bin& bin, uint64_t ns) { bin.working.fetch_add(ns, std::memory_order_relaxed); });
  }

  // Returns the blame for a rank that works from `begin` to `end`, in ns of other ranks.
  double blame(uint64_t begin, uint64_t end) {
    double blame = 0;
    each(begin, end, [&](const Bin& bin, uint64_t ns) {
      if (bin.is_late()) blame += static_cast<double>(ns) * bin.waiting_of() / bin.working_of();
    });
    return blame;
  }

  void sum_up(LateRanks& late) const {
    for (const Bin& bin : bins_) {
      late.waited_s += bin.waiting_of() / kNsPerSecond;
      if (bin.working == 0) late.nobody_s += bin.waiting_of() / kNsPerSecond;
      if (bin.is_late()) late.blamed_s += bin.waiting_of() / kNsPerSecond;
    }
  }

 private:
  struct Bin {
    std::atomic<uint64_t> waiting{0}, working{0};
    double waiting_of() const { return static_cast<double>(waiting.load(std::memory_order_relaxed)); }
    double working_of() const { return static_cast<double>(working.load(std::memory_order_relaxed)); }
    bool is_late() const { return working > 0 && waiting >= working; }
  };

  template <typename Visit>
  void each(uint64_t begin, uint64_t end, Visit visit) {
    while (begin < end) {
      const uint64_t at = (begin - begin_ns_) / bin_ns_;
      const uint64_t until = std::min(end, begin_ns_ + (at + 1) * bin_ns_);
      visit(bins_[at], until - begin);
      begin = until;
    }
  }

  uint64_t begin_ns_, bin_ns_;
  std::vector<Bin> bins_;
};

struct Extent {
  uint64_t begin_ns = std::numeric_limits<uint64_t>::max(), end_ns = 0;
  uint64_t known_ns = 0;

  void add(uint64_t begin, uint64_t end) {
    begin_ns = std::min(begin_ns, begin);
    end_ns = std::max(end_ns, end);
    known_ns += end - begin;
  }
};

std::vector<size_t> ranks_with_traces(const CallTree& tree, const RankCosts& costs) {
  const std::vector<TraceSource>& traces = tree.database->traces;
  std::vector<size_t> ranks;
  for (size_t r = 0; r < costs.ranks.size(); ++r)
    if (const uint32_t track = costs.ranks[r].track; track < traces.size() && traces[track])
      ranks.push_back(r);
  return ranks;
}

uint64_t in_ns(double period_s) {
  return static_cast<uint64_t>(period_s * kNsPerSecond);
}

// The sums over all ranks that have a trace.
struct TracedTime {
  Extent run;
  double known_s = 0, spent_s = 0;

  bool lacked_processors() const { return spent_s < kHadProcessor * known_s; }
};

std::vector<Extent> traced_extents(const CallTree& tree, const RankCosts& costs,
                                   const std::vector<size_t>& ranks, double period_s, int jobs) {
  std::vector<Extent> extents(ranks.size());
  parallel_for(ranks.size(), jobs, [&](size_t i) {
    const auto add = [&](uint64_t begin, uint64_t end, uint32_t = 0) { extents[i].add(begin, end); };
    Track(tree, costs, costs.ranks[ranks[i]], in_ns(period_s)).visit(add, add);
  });
  return extents;
}

TracedTime traced_time(const CallTree& tree, const RankCosts& costs, const std::vector<size_t>& ranks,
                       double period_s, int jobs) {
  const std::vector<Extent> extents = traced_extents(tree, costs, ranks, period_s, jobs);
  TracedTime time;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (extents[i].known_ns == 0) continue;
    time.run.add(extents[i].begin_ns, extents[i].end_ns);
    time.known_s += static_cast<double>(extents[i].known_ns) / kNsPerSecond;
    time.spent_s += costs.ranks[ranks[i]].track_s;
  }
  return time;
}

}  // namespace

std::vector<double> traced_seconds(const CallTree& tree, const RankCosts& costs, double period_s, int jobs) {
  const std::vector<size_t> ranks = ranks_with_traces(tree, costs);
  std::vector<double> seconds(costs.ranks.size());
  const std::vector<Extent> extents = traced_extents(tree, costs, ranks, period_s, jobs);
  for (size_t i = 0; i < ranks.size(); ++i)
    seconds[ranks[i]] = static_cast<double>(extents[i].known_ns) / kNsPerSecond;
  return seconds;
}

std::optional<LateRanks> late_ranks(const CallTree& tree, const RankCosts& costs, double period_s, int jobs) {
  const std::vector<size_t> ranks = ranks_with_traces(tree, costs);
  if (ranks.size() < 2) return std::nullopt;
  const uint64_t period_ns = in_ns(period_s);
  const auto track = [&](size_t i) { return Track(tree, costs, costs.ranks[ranks[i]], period_ns); };
  const TracedTime time = traced_time(tree, costs, ranks, period_s, jobs);
  if (time.run.end_ns == 0 || time.lacked_processors()) return std::nullopt;

  Bins bins(time.run.begin_ns, time.run.end_ns, period_ns);
  parallel_for(ranks.size(), jobs, [&](size_t i) {
    track(i).visit([&](uint64_t begin, uint64_t end) { bins.add_wait(begin, end); },
                   [&](uint64_t begin, uint64_t end, uint32_t) { bins.add_work(begin, end); });
  });

  LateRanks late;
  bins.sum_up(late);
  late.by_rank.resize(costs.ranks.size());
  std::vector<double> of_location(costs.locations.size());
  using Blames = std::map<uint32_t, double>;
  make_in_order(
      ranks.size(), jobs,
      [&](size_t i) {
        Blames blames;
        track(i).visit([](uint64_t, uint64_t) {},
                       [&](uint64_t begin, uint64_t end, uint32_t location) {
                         if (const double ns = bins.blame(begin, end); ns > 0) blames[location] += ns;
                       });
        return blames;
      },
      [&](size_t i, const Blames& blames) {
        for (const auto& [location, ns] : blames) {
          of_location[location] += ns / kNsPerSecond;
          late.by_rank[ranks[i]] += ns / kNsPerSecond;
        }
      });
  for (uint32_t location = 0; location < of_location.size(); ++location)
    if (of_location[location] > 0) late.locations.push_back({location, of_location[location]});
  std::ranges::stable_sort(late.locations, std::greater(), &LateRanks::Blame::seconds);
  return late;
}

}  // namespace prof
