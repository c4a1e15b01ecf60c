#pragma once
// Stalls: times at which nearly all threads wait in a barrier for one or a few that are blocked. Found in
// traces of wall-clock time, where a thread that is blocked in a system call gives no samples: an interval
// between two of its records is then far longer than usual. (Blame shifting does not see them: each is short,
// and every time another thread is late.)
//
// At a time t the run is stalled if
//   - some trace is in a long interval, more than `factor` times its median one, and not inside a barrier,
//   - these are fewer than `share` of the traces that exist at t (sparse), and
//   - every other one is inside a barrier or collective operation.
// A long interval inside a barrier is a wait like any other there - unless all traces are in a barrier for
// longer than a long interval and only a sparse set of them gives no samples: it was not woken.
//
// Traces are read three to four times, a block at a time; memory goes with the long intervals, not with the
// records. Times are in ns, as in the traces.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

struct StallOptions {
  double factor = 10;                 // of the median interval; at least 1
  double share = 0.10;                // of the traces; above 0, at most 1
  std::vector<std::string> barriers;  // patterns beside known_barriers()
  // The period of the clock, if known: no median is taken to be below it. The starts of waits, which are
  // recorded as well, and the samples of a faster clock beside this one make intervals shorter.
  uint64_t period_ns = 0;
  // Asked for each block that is read, from the thread that calls find_stalls(); true ends it with
  // StallsCancelled. Empty: it is not asked.
  std::function<bool()> is_cancelled;
};

struct StallsCancelled {};

struct StalledThread {
  uint32_t profile;
  uint32_t context;  // it was in, as its next sample told
  uint64_t begin_ns, end_ns;
  uint64_t lost_ns;  // how long the others waited for it, or also for it
  // Of lost_ns in waits for a device: until its work was done, and between that and the return.
  uint64_t waited_for_device_ns = 0;
  uint64_t woken_late_ns = 0;
};

// Long intervals that overlap are one stall.
struct Stall {
  uint64_t begin_ns, end_ns;           // from the start of the first interval to the end of the last one
  uint64_t lost_ns;                    // how long the run was stalled in between
  uint32_t waiting = kNone;            // the context of one that waited, if one is known
  uint32_t barrier = kNone;            // the one of its callers, or itself, that is the barrier
  std::vector<StalledThread> threads;  // by falling lost_ns
};

struct StallAnalysis {
  uint64_t begin_ns = 0, end_ns = 0;  // from the first record of all traces to the last one
  uint32_t traces = 0;                // that were looked at
  // Nobody waits for these in a barrier, and they are left out. None of them ever is in one, and they
  // - are blocked most of the time, and another thread of their process is in barriers (progress threads), or
  // - wait for their children most of the time (launchers), or
  // - belong to another program than those that are in barriers (shells, mpirun).
  uint32_t bystanders = 0;
  uint64_t long_intervals = 0;
  uint64_t longest_ns = 0;  // of the intervals outside barriers
  uint64_t lost_ns = 0;     // by all stalls together
  // Could have been a stall, but some trace has a gap then: paused, lost, or ready but without a processor.
  uint64_t unknown_ns = 0;
  std::vector<Stall> stalls;  // in order of time; they do not overlap

  uint64_t duration_ns() const { return end_ns - begin_ns; }
};

// False also for what devices executed, which nobody samples.
bool has_thread_trace(const Database& database, uint32_t profile);

// `profiles` are indices into Database::profiles; those without a thread's trace are skipped. Throws
// DatabaseError where a trace cannot be read.
StallAnalysis find_stalls(const Database& database, const std::vector<uint32_t>& profiles,
                          const StallOptions& options);

}  // namespace prof
