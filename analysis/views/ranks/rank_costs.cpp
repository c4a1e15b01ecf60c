#include "analysis/views/ranks/rank_costs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/database/parallel_for.h"
#include "analysis/database/stored_values.h"
#include "analysis/views/ranks/rank_places.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/wording.h"

namespace prof {

// For transfer between processes (analysis/team/packing.h).
template <typename Archive>
void fields(Archive& archive, RankCost& cost) {
  auto& [rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, bytes, places,
         line, line_s, line_by_activity, line_compute_cpu_s, line_ready_s, line_ready_cpu_s, line_places] =
      cost;
  archive(rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, bytes, places,
          line, line_s, line_by_activity, line_compute_cpu_s, line_ready_s, line_ready_cpu_s, line_places);
}

namespace {

uint32_t compared_metric(const CallTree& tree) {
  for (const char* name : {"REALTIME", "CPUTIME"})
    for (uint32_t m = 0; m < tree.metrics(); ++m)
      if (tree.metric(m).name == name) return m;
  for (uint32_t m = 0; m < tree.metrics(); ++m)
    if (is_time(tree.metric(m))) return m;
  return kNone;
}

uint32_t cpu_metric(const CallTree& tree) {
  for (uint32_t m = 0; m < tree.metrics(); ++m)
    if (tree.metric(m).name == "CPUTIME") return m;
  return kNone;
}

using Visit = std::function<void(uint32_t profile, std::span<const ProfileValue> values)>;

void visit_values(const CallTree& tree, int jobs, const Visit& visit) {
  const Database& database = *tree.database;
  const std::vector<uint32_t>& profiles = tree.selection.profiles;
  if (profiles.empty()) return;
  if (!database.values.compute) {
    std::vector<ProfileValue> buffer;
    for (const uint32_t profile : profiles) visit(profile, values_of(database, profile, buffer));
    return;
  }
  std::vector<bool> is_selected(database.profiles.size());
  for (const uint32_t profile : profiles) is_selected[profile] = true;
  const std::vector<uint32_t>& first = database.values.first;
  const auto piece_of = [&](uint32_t profile) {
    return static_cast<size_t>(std::ranges::upper_bound(first, profile) - first.begin()) - 1;
  };
  const auto [lowest, highest] = std::ranges::minmax(profiles);
  const size_t begin = piece_of(lowest), end = piece_of(highest) + 1;
  const auto compute = [&](size_t i) { return database.values.compute(database, begin + i); };
  const auto use = [&](size_t i, const std::vector<std::vector<ProfileValue>>& all) {
    for (uint32_t at = 0; at < all.size(); ++at)
      if (const uint32_t profile = first[begin + i] + at; is_selected[profile]) visit(profile, all[at]);
  };
  make_in_order(end - begin, jobs, compute, use);
}

// Sums over the threads of a rank.
class RankSums {
 public:
  RankSums(const RankPlaces& places, uint32_t metric, uint32_t cpu)
      : places_(places), metric_(metric), cpu_(cpu), sums_(places.size()) {}

  // `ready`: the same costs with RankPlaces::ready_code() for places.
  void add(RankCost& rank, uint32_t profile, const OwnCosts& costs, const OwnCosts& ready, size_t width) {
    ++rank.threads;
    RankCost line;  // of this thread
    for (const auto& [place, cost] : rank.places) sums_[place] = cost;
    std::vector<uint32_t> touched;
    for (const auto& [place, cost] : rank.places) touched.push_back(place);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      const uint32_t place = costs.nodes[i];
      const auto activity = static_cast<size_t>(places_.activity(place));
      const double cpu = cpu_ != kNone ? costs.values[i * width + cpu_] : 0;
      rank.cpu_s += cpu;
      if (places_.activity(place) == RankActivity::Compute) line.line_compute_cpu_s += cpu;
      const double cost = costs.values[i * width + metric_];
      if (cost <= 0) continue;
      rank.seconds += cost;
      line.line_s += cost;
      rank.by_activity[activity] += cost;
      line.line_by_activity[activity] += cost;
      line.line_places.emplace_back(place, cost);
      if (sums_[place] == 0) touched.push_back(place);
      sums_[place] += cost;
    }
    for (size_t i = 0; cpu_ != kNone && i < ready.nodes.size(); ++i) {
      if (ready.nodes[i] == 0) continue;
      line.line_ready_s += std::max(0.0, ready.values[i * width + metric_]);
      line.line_ready_cpu_s += std::max(0.0, ready.values[i * width + cpu_]);
    }
    rank.places.clear();
    for (const uint32_t place : touched) rank.places.emplace_back(place, std::exchange(sums_[place], 0));
    keep_largest(rank.places);
    constexpr auto kWaits = static_cast<size_t>(RankActivity::Communication);
    if (rank.line != kNone && line.line_by_activity[kWaits] <= rank.line_by_activity[kWaits]) return;
    rank.line = profile;
    rank.line_s = line.line_s;
    rank.line_by_activity = line.line_by_activity;
    rank.line_compute_cpu_s = line.line_compute_cpu_s;
    rank.line_ready_s = line.line_ready_s;
    rank.line_ready_cpu_s = line.line_ready_cpu_s;
    keep_largest(line.line_places);
    rank.line_places = std::move(line.line_places);
  }

 private:
  static void keep_largest(RankCost::Places& places) {
    if (places.size() > RankCosts::kMaxPlaces) {
      std::ranges::sort(places, [](const auto& a, const auto& b) {
        return std::tuple(-a.second, a.first) < std::tuple(-b.second, b.first);
      });
      places.resize(RankCosts::kMaxPlaces);
      places.shrink_to_fit();
    }
    std::ranges::sort(places);
  }

  const RankPlaces& places_;
  const uint32_t metric_, cpu_;
  std::vector<double> sums_;  // by place; zero between calls
};

bool is_of_rank(const ProfileId& id) {
  return id.rank >= 0;
}

// The bytes that a device's queue copied.
class CopiedBytes {
 public:
  explicit CopiedBytes(const Database& database) : database_(database), counts_(database.metrics.size()) {
    for (size_t m = 0; m < counts_.size(); ++m)
      counts_[m] = database.metrics[m].name == "H_TO_D_BYTES" || database.metrics[m].name == "D_TO_H_BYTES";
  }

  double of(std::span<const ProfileValue> values) const {
    double bytes = 0;
    for (const ProfileValue& value : values)
      if (counts_[value.metric] && database_.contexts[value.context].parent == kNone)
        bytes += value.values.inclusive;
    return bytes;
  }

 private:
  const Database& database_;
  std::vector<bool> counts_;  // by metric
};

// The costs of the selected profiles, by rank.
std::map<int32_t, RankCost> count(const CallTree& tree, const RankPlaces& places, int jobs) {
  OwnCostsByThread own(tree, places.place_of(), places.size());
  RankSums sums(places, compared_metric(tree), cpu_metric(tree));
  const std::vector<uint32_t> ready_code = places.ready_code();
  OwnCostsByThread ready(tree, ready_code, 2);
  const CopiedBytes copied(*tree.database);
  std::map<int32_t, RankCost> ranks;
  std::map<int32_t, double> bytes;
  visit_values(tree, jobs, [&](uint32_t profile, std::span<const ProfileValue> values) {
    const ProfileId& id = tree.database->profiles[profile].id;
    if (!is_of_rank(id)) return;
    if (id.device >= 0) {
      bytes[id.rank] += copied.of(values);
      return;
    }
    RankCost& rank = ranks[id.rank];
    rank.rank = id.rank;
    if (rank.node.empty()) rank.node = id.host;
    sums.add(rank, profile, own.of(values), ready.of(values), tree.metrics());
  });
  for (auto& [number, rank] : ranks) {
    if (rank.threads == 1) rank.line_places = {};
    if (const auto own_bytes = bytes.find(number); own_bytes != bytes.end())
      rank.copied_bytes = own_bytes->second;
  }
  return ranks;
}

// Returns all profiles of the ranks that begin in a process's pieces: the profiles of a rank are counted one
// after the other.
std::vector<uint32_t> profiles_of_ranks(const Database& database, int process) {
  const std::vector<Profile>& profiles = database.profiles;
  const auto begin_from = [&](size_t profile) {
    while (profile > 0 && profile < profiles.size() &&
           profiles[profile].id.rank == profiles[profile - 1].id.rank)
      ++profile;
    return profile;
  };
  const auto [begin, end] = database.values.profiles_of(process);
  std::vector<uint32_t> own;
  for (size_t profile = begin_from(begin); profile < begin_from(end); ++profile)
    if (is_of_rank(profiles[profile].id)) own.push_back(static_cast<uint32_t>(profile));
  return own;
}

void add_devices(const RunSummary& run, std::map<int32_t, RankCost>& ranks) {
  for (const DeviceUse& use : run.devices) {
    const auto at = ranks.find(use.rank);
    if (at == ranks.end()) continue;
    at->second.uses_devices = true;
    at->second.kernels_s += use.kernels_s;
    at->second.copies_s += use.copies_s;
    at->second.device_idle_s += use.idle_s();
  }
}

}  // namespace

int RankOptions::threads() const {
  return jobs > 0 ? jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

RankCosts rank_costs(const CallTree& tree, const RunSummary& run, RankOptions options) {
  RankCosts costs;
  costs.metric = compared_metric(tree);
  if (costs.metric == kNone) return costs;
  RankPlaces places(*tree.database);
  std::map<int32_t, RankCost> ranks;
  if (options.counted)
    for (RankCost& rank : *options.counted) ranks.emplace(rank.rank, std::move(rank));
  else
    ranks = count(tree, places, options.threads());
  add_devices(run, ranks);
  places.find_dearest_contexts(tree);
  costs.place_of = places.place_of();
  costs.places = places.take();
  for (auto& [number, rank] : ranks) costs.ranks.push_back(std::move(rank));
  return costs;
}

std::vector<RankCost> rank_costs_together(const Database& database, const Selection& selection, Team& team,
                                          int jobs) {
  CallTree tree;  // of which counting needs no more than this
  tree.database = &database;
  tree.selection = selection;
  tree.selection.profiles = profiles_of_ranks(database, team.rank());
  const RankPlaces places(database);
  std::vector<RankCost> all;
  team.collect(
      "ranks",
      [&] {
        if (compared_metric(tree) == kNone || tree.selection.profiles.empty()) return;
        for (auto& [number, rank] : count(tree, places, RankOptions{.jobs = jobs}.threads()))
          all.push_back(std::move(rank));
      },
      [&](Packer& out) { out(all); },
      [&](Unpacker& in, int) {
        auto others = in.get<std::vector<RankCost>>();
        for (const RankCost& cost : others) {
          Unpacker::require(cost.line == kNone || cost.line < database.profiles.size(),
                            "it is of other profiles");
          for (const RankCost::Places* list : {&cost.places, &cost.line_places})
            for (const auto& [place, seconds] : *list)
              Unpacker::require(place < places.size(), "it is of other places");
        }
        std::ranges::move(others, std::back_inserter(all));
      });
  return all;
}

}  // namespace prof
