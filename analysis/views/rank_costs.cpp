#include "analysis/views/rank_costs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/attribution/own_runtime.h"
#include "analysis/database/parallel_for.h"
#include "analysis/database/stored_values.h"
#include "analysis/stalls/barriers.h"
#include "analysis/views/own_costs.h"
#include "analysis/views/wording.h"

namespace prof {

// For other processes (analysis/team/packing.h).
template <typename Archive>
void fields(Archive& archive, RankCost& cost) {
  auto& [rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, line, line_s,
         line_communication_s, places] = cost;
  archive(rank, node, threads, seconds, by_activity, cpu_s, kernels_s, copies_s, idle_s, uses, line, line_s,
          line_communication_s, places);
}

namespace {

using Patterns = std::vector<std::string>;

const Patterns& start_calls() {
  static const Patterns kCalls = {"MPI_Init*", "PMPI_Init*", "mpi_init*_", "pmpi_init*_"};
  return kCalls;
}

const Patterns& file_calls() {
  static const Patterns kCalls = {
      "MPI_File_*",   "PMPI_File_*", "mpi_file_*_", "pmpi_file_*_", "read",      "write",      "pread",
      "pwrite",       "pread64",     "pwrite64",    "readv",        "writev",    "preadv",     "pwritev",
      "open",         "open64",      "openat",      "openat64",     "fsync",     "fdatasync",  "fread",
      "fwrite",       "fopen",       "fopen64",     "fclose",       "fflush",    "getline",    "fgets",
      "fputs",        "ftruncate",   "rename",      "unlink",       "libc_read", "libc_write", "libc_pread*",
      "libc_pwrite*", "libc_open*",  "libc_fsync",  "H5D*",         "nc_*"};
  return kCalls;
}

const Patterns& communication_calls() {
  static const Patterns kCalls = {"MPI_*", "PMPI_*",  "mpi_*_",  "pmpi_*_",
                                  "nccl*", "gloo::*", "shmem_*", "upc_barrier*"};
  return kCalls;
}

const Patterns& device_calls() {
  static const Patterns kCalls = {"cudaDeviceSynchronize*",
                                  "cudaStreamSynchronize*",
                                  "cudaEventSynchronize*",
                                  "cudaMemcpy*",
                                  "cudaMemset*",
                                  "cuCtxSynchronize*",
                                  "cuStreamSynchronize*",
                                  "cuEventSynchronize*",
                                  "cuMemcpy*",
                                  "hipDeviceSynchronize",
                                  "hipStreamSynchronize*",
                                  "hipMemcpy*",
                                  "clFinish",
                                  "clWaitForEvents",
                                  "clEnqueue*Buffer*"};
  return kCalls;
}

bool is_of_system(const Database& database, const Function& function) {
  if (function.module == kNone) return false;
  const std::string& module = database.modules[function.module].path;
  return module.starts_with("/lib") || module.starts_with("/usr/lib") || module.starts_with('[') ||
         is_own_runtime(module);
}

bool has_own_line(const Database& database, const Function& function) {
  if (function.file == kNone || function.line == 0 || is_of_system(database, function)) return false;
  const std::string& file = database.files[function.file].path;
  return !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/");
}

// Which place each context is in.
class Places {
 public:
  explicit Places(const Database& database) : database_(database), place_of_(database_.contexts.size()) {
    const std::vector<bool> starts = contexts_in(database_, start_calls()),
                            files = contexts_in(database_, file_calls()),
                            communicates = contexts_in(database_, communication_calls()),
                            devices = contexts_in(database_, device_calls()),
                            threads = contexts_in(database_, known_barriers());
    struct Step {
      // Functions: of the program with lines, of the program, of anything; and what it calls.
      uint32_t with_line = kNone, caller = kNone, own = kNone, innermost = kNone, call = kNone;
      RankActivity activity = RankActivity::Compute;
    };
    std::vector<Step> steps(database_.contexts.size());
    for (uint32_t c = 0; c < steps.size(); ++c) {
      const Context& context = database_.contexts[c];
      Step& step = steps[c];
      if (context.parent != kNone) step = steps[context.parent];
      const RankActivity above = step.activity;
      step.activity = starts[c]         ? RankActivity::Start
                      : files[c]        ? RankActivity::Io
                      : communicates[c] ? RankActivity::Communication
                      : devices[c]      ? RankActivity::Device
                      : threads[c]      ? RankActivity::Threads
                                        : RankActivity::Compute;
      // What MPI does inside is MPI's, whatever it calls.
      if (above == RankActivity::Communication && !starts[c]) step.activity = above;
      if (context.kind == ContextKind::Function && context.function != kNone) {
        step.innermost = context.function;
        if (step.activity == RankActivity::Compute) {
          step.call = kNone;
          const Function& function = database_.functions[context.function];
          if (has_own_line(database_, function) && step.with_line != context.function) {
            step.caller = step.with_line;
            step.with_line = context.function;
          }
          if (!is_of_system(database_, function)) step.own = context.function;
        } else if (step.activity != above) {
          step.call = context.function;
        }
      }
      const uint32_t program = step.with_line != kNone ? step.with_line
                               : step.own != kNone     ? step.own
                                                       : step.innermost;
      place_of_[c] = number_of({step.activity, program, step.caller, step.call, kNone});
    }
  }

  const std::vector<uint32_t>& place_of() const { return place_of_; }
  std::vector<RankPlace> take() { return std::move(places_); }
  size_t size() const { return places_.size(); }
  RankActivity activity(uint32_t place) const { return places_[place].activity; }

  // By all ranks together, so that it does not depend on their order.
  void find_dearest_contexts(const CallTree& tree) {
    std::vector<double> most(places_.size(), -1);
    for (uint32_t c = 0; c < place_of_.size(); ++c) {
      if (tree.metrics() == 0) return;
      const double cost = tree.by_context[0][c].exclusive;
      if (cost < most[place_of_[c]]) continue;  // of a function and its line the line
      most[place_of_[c]] = cost;
      places_[place_of_[c]].context = c;
    }
  }

 private:
  uint32_t number_of(const RankPlace& place) {
    const auto [at, is_new] =
        numbers_.try_emplace(std::tuple(place.activity, place.function, place.caller, place.call),
                             static_cast<uint32_t>(places_.size()));
    if (is_new) places_.push_back(place);
    return at->second;
  }

  const Database& database_;
  std::vector<uint32_t> place_of_;
  std::vector<RankPlace> places_;
  std::map<std::tuple<RankActivity, uint32_t, uint32_t, uint32_t>, uint32_t> numbers_;
};

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
  RankSums(const Places& places, uint32_t metric, uint32_t cpu)
      : places_(places), metric_(metric), cpu_(cpu), sums_(places.size()) {}

  void add(RankCost& rank, uint32_t profile, const OwnCosts& costs, size_t width) {
    ++rank.threads;
    double all = 0, communication = 0;
    for (const auto& [place, cost] : rank.places) sums_[place] = cost;
    std::vector<uint32_t> touched;
    for (const auto& [place, cost] : rank.places) touched.push_back(place);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      if (cpu_ != kNone) rank.cpu_s += costs.values[i * width + cpu_];
      const double cost = costs.values[i * width + metric_];
      if (cost <= 0) continue;
      const uint32_t place = costs.nodes[i];
      rank.seconds += cost;
      all += cost;
      if (places_.activity(place) == RankActivity::Communication) communication += cost;
      rank.by_activity[static_cast<size_t>(places_.activity(place))] += cost;
      if (sums_[place] == 0) touched.push_back(place);
      sums_[place] += cost;
    }
    keep(rank, touched);
    if (rank.line != kNone && communication <= rank.line_communication_s) return;
    rank.line = profile;
    rank.line_s = all;
    rank.line_communication_s = communication;
  }

 private:
  void keep(RankCost& rank, const std::vector<uint32_t>& touched) {
    rank.places.clear();
    for (const uint32_t place : touched) rank.places.emplace_back(place, std::exchange(sums_[place], 0));
    if (rank.places.size() > RankCosts::kLargest) {
      std::ranges::sort(rank.places, [](const auto& a, const auto& b) {
        return std::tuple(-a.second, a.first) < std::tuple(-b.second, b.first);
      });
      rank.places.resize(RankCosts::kLargest);
      rank.places.shrink_to_fit();
    }
    std::ranges::sort(rank.places);
  }

  const Places& places_;
  const uint32_t metric_, cpu_;
  std::vector<double> sums_;  // by place; zero between calls
};

// And not of a device.
bool is_of_rank(const ProfileId& id) {
  return id.rank >= 0 && id.device < 0;
}

// What the selected profiles spent, by rank.
std::map<int32_t, RankCost> count(const CallTree& tree, const Places& places, int jobs) {
  OwnCostsByThread own(tree, places.place_of(), places.size());
  RankSums sums(places, compared_metric(tree), cpu_metric(tree));
  std::map<int32_t, RankCost> ranks;
  visit_values(tree, jobs, [&](uint32_t profile, std::span<const ProfileValue> values) {
    const ProfileId& id = tree.database->profiles[profile].id;
    if (!is_of_rank(id)) return;
    RankCost& rank = ranks[id.rank];
    rank.rank = id.rank;
    if (rank.node.empty()) rank.node = id.host;
    sums.add(rank, profile, own.of(values), tree.metrics());
  });
  return ranks;
}

// Of the ranks that begin in a process's pieces all profiles, for those of one are counted one after the
// other.
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

const char* activity_name(RankActivity activity) {
  constexpr const char* kNames[kRankActivities] = {"compute", "communication", "threads",
                                                   "io",      "device",        "start"};
  return kNames[static_cast<size_t>(activity)];
}

int RankOptions::threads() const {
  return jobs > 0 ? jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

RankCosts rank_costs(const CallTree& tree, const RunSummary& run, RankOptions options) {
  RankCosts costs;
  costs.metric = compared_metric(tree);
  if (costs.metric == kNone) return costs;
  Places places(*tree.database);
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
  const Places places(database);
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
          for (const auto& [place, seconds] : cost.places)
            Unpacker::require(place < places.size(), "it is of other places");
        }
        std::ranges::move(others, std::back_inserter(all));
      });
  return all;
}

}  // namespace prof
