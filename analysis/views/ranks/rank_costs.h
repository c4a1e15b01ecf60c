#pragma once
// The costs of each rank of a parallel program, by place and activity. Values are read profile by profile,
// and only the largest costs of each rank are kept. Therefore a job of ten thousand ranks fits into memory,
// even if values are computed on request (ProfileValues).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/call_tree.h"
#include "analysis/workers/workers.h"

namespace prof {

// A thread's activity, according to its call path.
enum class RankActivity : uint8_t {
  Compute,        // none of the following
  Communication,  // in a call of MPI, NCCL, Gloo or SHMEM: mostly waits for other ranks
  Threads,        // waits for other threads of its rank
  Io,             // reads, writes or opens files
  Device,         // waits for an accelerator, copies to and from it, or initializes it
  Start           // MPI_Init
};
constexpr size_t kRankActivities = 6;

// A function of the program with its caller, and its activity. Each cost of a rank belongs to one of these.
struct RankLocation {
  RankActivity activity = RankActivity::Compute;
  uint32_t function = kNone;  // into Database::functions: of the program
  uint32_t caller = kNone;    // likewise: the function of the program that called it; kNone if none did
  uint32_t call = kNone;      // likewise: the function of MPI, the C library, ... that it calls
  uint32_t context = kNone;   // the most expensive one of all contexts in it
};

struct RankCost {
  int32_t rank = -1;
  std::string node;  // the host's name
  uint32_t threads = 0;
  double seconds = 0;                                     // of the metric, over all threads
  std::array<double, kRankActivities> by_activity{};      // its parts
  double cpu_s = 0;                                       // CPUTIME; 0 if that was not measured
  double kernels_s = 0, copies_s = 0, device_idle_s = 0;  // of the devices it used
  bool uses_devices = false;
  double copied_bytes = 0;                                  // to and from them; 0 if that was not measured
  using Locations = std::vector<std::pair<uint32_t, double>>;  // by RankCosts::locations; by number
  Locations locations;  // the most expensive kMaxPlaces of all threads together
  // The thread that communicates most, the first one of equals: its profile, its costs, and its CPUTIME while
  // it computed.
  uint32_t track = kNone;
  double track_s = 0;
  std::array<double, kRankActivities> track_by_activity{};
  double track_compute_cpu_s = 0;
  // The cost of code that waits for nothing but a processor, for the same metric and for CPUTIME.
  double track_ready_s = 0, track_ready_cpu_s = 0;
  Locations track_locations;  // as locations; empty if the rank has one thread

  const Locations& locations_of_track() const { return threads > 1 ? track_locations : locations; }
};

struct RankCosts {
  static constexpr size_t kMaxPlaces = 256;
  uint32_t metric = kNone;  // position in the tree's metrics of the time that ranks are compared by
  std::vector<RankLocation> locations;
  std::vector<uint32_t> location_of;  // by context
  std::vector<RankCost> ranks;     // by rank
};

struct RankOptions {
  std::optional<std::vector<RankCost>> counted = {};  // the result of rank_costs_together()
  int jobs = 0;                                       // threads to use; 0: as many as there are processors

  int threads() const;
};

// Uses REALTIME if it was measured, otherwise the first selected metric that is a time. Returns no ranks if
// there is none. Reads the values of the selected profiles.
RankCosts rank_costs(const CallTree& tree, const RunSummary& run, RankOptions options = {});

// Returns the ranks' costs on processors, counted by several workers, each for the ranks of its own
// pieces (Database::values). Needs no summaries. The first process gets the result.
std::vector<RankCost> rank_costs_together(const Database& database, const Selection& selection,
                                          AnalysisWorkers& workers, int jobs = 0);

}  // namespace prof
