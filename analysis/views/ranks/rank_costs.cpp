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
#include "analysis/views/ranks/rank_locations.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/wording.h"

namespace prof {

// For transfer between processes (analysis/workers/packing.h).
template <typename Archive>
void fields(Archive& archive, RankCost& cost) {
  auto& [rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, bytes,
         locations, track, track_s, track_by_activity, track_compute_cpu_s, track_ready_s, track_ready_cpu_s,
         track_locations] = cost;
  archive(rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, bytes,
          locations, track, track_s, track_by_activity, track_compute_cpu_s, track_ready_s, track_ready_cpu_s,
          track_locations);
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
  RankSums(const RankLocations& locations, uint32_t metric, uint32_t cpu)
      : locations_(locations), metric_(metric), cpu_(cpu), sums_(locations.size()) {}

  // `ready`: the same costs with RankLocations::ready_code() for locations.
  void add(RankCost& rank, uint32_t profile, const OwnCosts& costs, const OwnCosts& ready, size_t width) {
    ++rank.threads;
    RankCost track;  // of this thread
    for (const auto& [location, cost] : rank.locations) sums_[location] = cost;
    std::vector<uint32_t> touched;
    for (const auto& [location, cost] : rank.locations) touched.push_back(location);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      const uint32_t location = costs.nodes[i];
      const auto activity = static_cast<size_t>(locations_.activity(location));
      const double cpu = cpu_ != kNone ? costs.values[i * width + cpu_] : 0;
      rank.cpu_s += cpu;
      if (locations_.activity(location) == RankActivity::Compute) track.track_compute_cpu_s += cpu;
      const double cost = costs.values[i * width + metric_];
      if (cost <= 0) continue;
      rank.seconds += cost;
      track.track_s += cost;
      rank.by_activity[activity] += cost;
      track.track_by_activity[activity] += cost;
      track.track_locations.emplace_back(location, cost);
      if (sums_[location] == 0) touched.push_back(location);
      sums_[location] += cost;
    }
    for (size_t i = 0; cpu_ != kNone && i < ready.nodes.size(); ++i) {
      if (ready.nodes[i] == 0) continue;
      track.track_ready_s += std::max(0.0, ready.values[i * width + metric_]);
      track.track_ready_cpu_s += std::max(0.0, ready.values[i * width + cpu_]);
    }
    rank.locations.clear();
    for (const uint32_t location : touched)
      rank.locations.emplace_back(location, std::exchange(sums_[location], 0));
    keep_largest(rank.locations);
    constexpr auto kWaits = static_cast<size_t>(RankActivity::Communication);
    if (rank.track != kNone && track.track_by_activity[kWaits] <= rank.track_by_activity[kWaits]) return;
    rank.track = profile;
    rank.track_s = track.track_s;
    rank.track_by_activity = track.track_by_activity;
    rank.track_compute_cpu_s = track.track_compute_cpu_s;
    rank.track_ready_s = track.track_ready_s;
    rank.track_ready_cpu_s = track.track_ready_cpu_s;
    keep_largest(track.track_locations);
    rank.track_locations = std::move(track.track_locations);
  }

 private:
  static void keep_largest(RankCost::Locations& locations) {
    if (locations.size() > RankCosts::kMaxPlaces) {
      std::ranges::sort(locations, [](const auto& a, const auto& b) {
        return std::tuple(-a.second, a.first) < std::tuple(-b.second, b.first);
      });
      locations.resize(RankCosts::kMaxPlaces);
      locations.shrink_to_fit();
    }
    std::ranges::sort(locations);
  }

  const RankLocations& locations_;
  const uint32_t metric_, cpu_;
  std::vector<double> sums_;  // by location; zero between calls
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
std::map<int32_t, RankCost> count(const CallTree& tree, const RankLocations& locations, int jobs) {
  OwnCostsByThread own(tree, locations.location_of(), locations.size());
  RankSums sums(locations, compared_metric(tree), cpu_metric(tree));
  const std::vector<uint32_t> ready_code = locations.ready_code();
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
    if (rank.threads == 1) rank.track_locations = {};
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
  RankLocations locations(*tree.database);
  std::map<int32_t, RankCost> ranks;
  if (options.counted)
    for (RankCost& rank : *options.counted) ranks.emplace(rank.rank, std::move(rank));
  else
    ranks = count(tree, locations, options.threads());
  add_devices(run, ranks);
  locations.find_dearest_contexts(tree);
  costs.location_of = locations.location_of();
  costs.locations = locations.take();
  for (auto& [number, rank] : ranks) costs.ranks.push_back(std::move(rank));
  return costs;
}

std::vector<RankCost> rank_costs_together(const Database& database, const Selection& selection,
                                          AnalysisWorkers& workers, int jobs) {
  CallTree tree;  // of which counting needs no more than this
  tree.database = &database;
  tree.selection = selection;
  tree.selection.profiles = profiles_of_ranks(database, workers.rank());
  const RankLocations locations(database);
  std::vector<RankCost> all;
  workers.collect(
      "ranks",
      [&] {
        if (compared_metric(tree) == kNone || tree.selection.profiles.empty()) return;
        for (auto& [number, rank] : count(tree, locations, RankOptions{.jobs = jobs}.threads()))
          all.push_back(std::move(rank));
      },
      [&](Packer& out) { out(all); },
      [&](Unpacker& in, int) {
        auto others = in.get<std::vector<RankCost>>();
        for (const RankCost& cost : others) {
          Unpacker::require(cost.track == kNone || cost.track < database.profiles.size(),
                            "it is of other profiles");
          for (const RankCost::Locations* list : {&cost.locations, &cost.track_locations})
            for (const auto& [location, seconds] : *list)
              Unpacker::require(location < locations.size(), "it is of other places");
        }
        std::ranges::move(others, std::back_inserter(all));
      });
  return all;
}

}  // namespace prof
