#include "analysis/views/late_ranks.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>

#include "analysis/database/parallel_for.h"

namespace prof {
namespace {

constexpr double kNsPerSecond = 1e9;
// Of the time that samples tell of a rank so much has to be its CPU time.
constexpr double kHadProcessor = 0.8;

// What a rank's thread did, from record to record.
class Line {
 public:
  Line(const CallTree& tree, const RankCosts& costs, const RankCost& rank, uint64_t period_ns)
      : costs_(costs),
        trace_(tree.database->traces[rank.line]),
        period_ns_(period_ns),
        longest_ns_(tree.metric(costs.metric).name == "REALTIME" ? std::numeric_limits<uint64_t>::max()
                                                                 : kLongestStretch * period_ns) {}

  // wait(begin, end) of each that is long enough, work(begin, end, place), in order of time.
  template <typename Wait, typename Work>
  void visit(Wait wait, Work work) {
    uint64_t wait_begin = 0, wait_end = 0;
    const auto end_wait = [&] {
      if (wait_end - wait_begin >= kLeastWait * period_ns_) wait(wait_begin, wait_end);
      wait_begin = wait_end = 0;
    };
    TraceRecord last{0, kNone};
    for (std::vector<TraceRecord> block; trace_(block);) {
      for (const TraceRecord& record : block) {
        const uint64_t end = std::min(record.time_ns, last.time_ns + std::min(longest_ns_, record.time_ns));
        const uint32_t place = last.context == kNone ? kNone : costs_.place_of[last.context];
        const RankActivity activity = place == kNone ? RankActivity::Start : costs_.places[place].activity;
        if (activity == RankActivity::Communication) {
          if (wait_end != last.time_ns) end_wait();
          if (wait_end == 0) wait_begin = last.time_ns;
          wait_end = end;
        } else {
          end_wait();
          if (activity != RankActivity::Start && end > last.time_ns) work(last.time_ns, end, place);
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

// How many ranks wait and work at a time: ns of ranks, in each of equal parts of the run.
class Bins {
 public:
  Bins(uint64_t begin_ns, uint64_t end_ns, uint64_t period_ns)
      : begin_ns_(begin_ns),
        bin_ns_(std::max({uint64_t{1}, period_ns / 2, (end_ns - begin_ns) / kMostBins + 1})),
        bins_((end_ns - begin_ns) / bin_ns_ + 1) {}

  void add_wait(uint64_t begin, uint64_t end) {
    each(begin, end, [](Bin& bin, uint64_t ns) { bin.waiting.fetch_add(ns, std::memory_order_relaxed); });
  }
  void add_work(uint64_t begin, uint64_t end) {
    each(begin, end, [](Bin& bin, uint64_t ns) { bin.working.fetch_add(ns, std::memory_order_relaxed); });
  }

  // Of a rank that works for so long, in ns of others.
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

}  // namespace

std::optional<LateRanks> late_ranks(const CallTree& tree, const RankCosts& costs, double period_s, int jobs) {
  const Database& database = *tree.database;
  std::vector<size_t> ranks;  // that have a trace
  for (size_t r = 0; r < costs.ranks.size(); ++r)
    if (const uint32_t line = costs.ranks[r].line; line < database.traces.size() && database.traces[line])
      ranks.push_back(r);
  if (ranks.size() < 2) return std::nullopt;
  const auto period_ns = static_cast<uint64_t>(period_s * kNsPerSecond);
  const auto line = [&](size_t i) { return Line(tree, costs, costs.ranks[ranks[i]], period_ns); };

  std::vector<Extent> extents(ranks.size());
  parallel_for(ranks.size(), jobs, [&](size_t i) {
    const auto add = [&](uint64_t begin, uint64_t end, uint32_t = 0) { extents[i].add(begin, end); };
    line(i).visit(add, add);
  });
  Extent run;
  double known_s = 0, spent_s = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (extents[i].known_ns == 0) continue;
    run.add(extents[i].begin_ns, extents[i].end_ns);
    known_s += static_cast<double>(extents[i].known_ns) / kNsPerSecond;
    spent_s += costs.ranks[ranks[i]].line_s;
  }
  if (run.end_ns == 0 || spent_s < kHadProcessor * known_s) return std::nullopt;

  Bins bins(run.begin_ns, run.end_ns, period_ns);
  parallel_for(ranks.size(), jobs, [&](size_t i) {
    line(i).visit([&](uint64_t begin, uint64_t end) { bins.add_wait(begin, end); },
                  [&](uint64_t begin, uint64_t end, uint32_t) { bins.add_work(begin, end); });
  });

  LateRanks late;
  bins.sum_up(late);
  late.by_rank.resize(costs.ranks.size());
  std::vector<double> of_place(costs.places.size());
  using Blames = std::map<uint32_t, double>;
  make_in_order(
      ranks.size(), jobs,
      [&](size_t i) {
        Blames blames;
        line(i).visit([](uint64_t, uint64_t) {},
                      [&](uint64_t begin, uint64_t end, uint32_t place) {
                        if (const double ns = bins.blame(begin, end); ns > 0) blames[place] += ns;
                      });
        return blames;
      },
      [&](size_t i, const Blames& blames) {
        for (const auto& [place, ns] : blames) {
          of_place[place] += ns / kNsPerSecond;
          late.by_rank[ranks[i]] += ns / kNsPerSecond;
        }
      });
  for (uint32_t place = 0; place < of_place.size(); ++place)
    if (of_place[place] > 0) late.places.push_back({place, of_place[place]});
  std::ranges::stable_sort(late.places, std::greater(), &LateRanks::Blame::seconds);
  return late;
}

}  // namespace prof
