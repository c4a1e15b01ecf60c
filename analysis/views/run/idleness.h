#pragma once
// The causes of a device's idleness and of waiting for it: the measured blame, by location, and the maximum
// saving from removing a cause. Sums over threads can exceed the time in which the device was idle; shares of
// the run are then scaled to that time.

#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/words/code_frame.h"

namespace prof {

// A location that is blamed, or that waits.
struct Blamed {
  std::string what;          // the device's API function, the function that computes, or the kernel
  std::string caller;        // the function that calls it or launches it; empty if not known
  std::string caller_location;  // "step.cpp:31": the line of that call; may be empty
  std::string location;         // the same; for computing the line of the computation itself; may be empty
  std::string outer_caller;     // for a kernel the function that calls the launching one, unless that is main
  std::string outer_location;   // and the line of that call; never empty if outer_caller is not
  bool is_call = false;
  double value_s = 0;           // as measured, summed over threads
  double share = 0;             // 0..1, of all of its kind
  double removed_s = 0;         // of the run, at most, if it were removed; 0 if its time is not known
  double share_of_run = 0;      // 0..1: the same, an upper bound of what removing it saves
  double share_by_overlap = 0;  // the same if the call stays, and the other side works meanwhile
  bool is_task = false;  // a kernel or a copy; the frames then begin with it, and go on with its launch
  std::vector<CodeFrame> frames;  // the call path, the innermost first
};

struct Waiting {
  Blamed at;
  double launch_latency_s = 0, gap_s = 0, wake_latency_s = 0;  // parts of at.value_s that no task covers
};

struct RankedTask {
  std::string name;
  double time_s = 0, blame_s = 0;
  size_t time_rank = 0, blame_rank = 0;  // from 1
};

struct Idleness {
  std::vector<Blamed> device;     // by falling value: causes of idle devices
  std::vector<Blamed> cpu;        // by falling value: the tasks that threads waited for
  std::vector<Waiting> waits;     // the places at which threads waited, by falling value
  std::vector<RankedTask> tasks;  // by falling blame, then time
  // By falling value: tasks whose events kept those of other queues from starting, and these.
  std::vector<Blamed> event_causes, event_waits;
  double unblamed_s = 0;    // devices were idle, and no thread was observed at work
  double team_waits_s = 0;  // threads waited in OpenMP or OpenBLAS meanwhile, summed; not in `device`
  double rank_waits_s = 0;  // and in MPI for other ranks; the same
};

// `selection`: only its threads count, not its metrics. Empty if no device was used.
Idleness idleness(const Database& database, const Selection& selection, const RunSummary& run);

// The total work of a device queue.
struct QueueCosts {
  uint64_t tasks = 0;
  double execution_s = 0, copy_s = 0, overlap_s = 0, to_device_bytes = 0, from_device_bytes = 0;
};
QueueCosts queue_costs(const Database& database, uint32_t profile);

}  // namespace prof
