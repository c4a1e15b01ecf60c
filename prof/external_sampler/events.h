#pragma once
// The perf events by which programs are sampled from outside: those of one process and all that it will
// create, on every processor, into that processor's ring.

#include <cstdint>
#include <span>
#include <vector>

#include "hpcrun/sample/config.h"
#include "prof/external_sampler/ring.h"

namespace prof {

struct OutsideProbe {
  int error = 0;               // errno with which the kernel refuses; 0: programs can be sampled from outside
  bool samples_kernel = true;  // false: code of the program only
};

// Tries everything that sampling from outside needs on the calling process, and keeps nothing of it.
OutsideProbe probe_outside_sampling();

// One ring for each processor, as large as this user may lock. `error` is 0 or an errno: EMFILE where there
// are not descriptors enough (one for each processor), EPERM where the buffers may not be locked.
std::vector<PerfRing> open_rings(int& error);

struct OpenEvent {
  int descriptor;
  uint64_t id;     // as samples name it
  uint32_t event;  // index in the configuration
};

struct EventRequest {
  std::span<const hpcrun::EventSpec> specs;
  bool samples_kernel = true;
  uint32_t stack_bytes = 0;  // of the stack, copied with each sample
  bool from_exec = true;     // count from the thread's next exec on, or at once
};

// Opens the events (which are not REALTIME) on a thread, for it and whatever it then creates. False, with
// nothing left open, and errno when the kernel refuses.
bool open_events(int tid, const EventRequest& request, const std::vector<PerfRing>& rings,
                 std::vector<OpenEvent>& opened);

}  // namespace prof
