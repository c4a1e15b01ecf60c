#pragma once
// Stalls: times at which nearly all threads wait in a barrier for one or a few that are blocked. Found in
// traces of wall-clock time: a thread that is blocked in a system call has no samples, so an interval between
// two of its records is far longer than usual. (Blame shifting misses stalls, because each is short, and a
// different thread is late every time.)
//
// The run is stalled at a time t if
//   - some trace is in a long interval, more than `factor` times its median one, and not inside a barrier,
//   - these are fewer than `share` of the traces that exist at t (sparse), and
//   - every other trace is inside a barrier or collective operation.
// A long interval inside a barrier counts as an ordinary wait. The exception: all traces are in a barrier for
// longer than a long interval, and only a sparse set of them has no samples. That set was not woken.
//
// Traces are read three to four times, one block at a time. Memory is proportional to the number of long
// intervals, not of records. Times are in ns, as in the traces.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

struct StallOptions {
  double factor = 10;                 // of the median interval; at least 1
  double share = 0.10;                // of the traces; above 0, at most 1
  std::vector<std::string> barriers;  // patterns in addition to known_barriers()
  // The period of the clock, if known; medians below it are raised to it. The starts of waits, which are
  // recorded as well, and the samples of an additional faster clock make intervals shorter.
  uint64_t period_ns = 0;
  // Called for each block that is read, in the thread that calls find_stalls(). If it returns true,
  // find_stalls() throws StallsCancelled. May be empty.
  std::function<bool()> is_cancelled;
};

struct StallsCancelled {};

struct StalledThread {
  uint32_t profile;
  uint32_t context;  // of the interval, by its next sample
  uint64_t begin_ns, end_ns;
  uint64_t lost_ns;  // how long the others waited for it, alone or among others
  // The parts of lost_ns in waits for a device: until its work was done, and from then to the return.
  uint64_t waited_for_device_ns = 0;
  uint64_t woken_late_ns = 0;
};

// Overlapping long intervals are one stall.
struct Stall {
  uint64_t begin_ns, end_ns;           // from the start of the first interval to the end of the last
  uint64_t lost_ns;                    // how long the run was stalled in between
  uint32_t waiting = kNone;            // the context of a waiting thread, if one is known
  uint32_t barrier = kNone;            // the barrier: this context or one of its callers
  std::vector<StalledThread> threads;  // by descending lost_ns
};

struct StallAnalysis {
  uint64_t begin_ns = 0, end_ns = 0;  // from the first record of all traces to the last
  uint32_t traces = 0;                // number of traces that were considered
  // Traces that are ignored, because no barrier waits for them. None of them is ever in a barrier, and they
  // - are blocked most of the time, and another thread of their process is in barriers (progress threads), or
  // - wait for their children most of the time (launchers), or
  // - belong to another program than those that are in barriers (shells, mpirun).
  uint32_t bystanders = 0;
  uint64_t long_intervals = 0;
  uint64_t longest_ns = 0;  // of the intervals outside barriers
  uint64_t lost_ns = 0;     // by all stalls together
  // Possible stalls during which some trace has a gap: paused, lost, or ready but without a processor.
  uint64_t unknown_ns = 0;
  std::vector<Stall> stalls;  // in the order of time, without overlaps

  uint64_t duration_ns() const { return end_ns - begin_ns; }
};

// Returns false also for traces of devices, which are not sampled.
bool has_thread_trace(const Database& database, uint32_t profile);

// `profiles` are indices into Database::profiles. Those without a thread's trace are skipped. Throws
// DatabaseError if a trace cannot be read.
StallAnalysis find_stalls(const Database& database, const std::vector<uint32_t>& profiles,
                          const StallOptions& options);

}  // namespace prof
