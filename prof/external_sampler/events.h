#pragma once
// The perf events that sample programs from outside. They cover one process and everything that it will
// create, on every processor, and write into that processor's ring.

#include <cstdint>
#include <span>
#include <vector>

#include "hpcrun/sample/config.h"
#include "prof/external_sampler/ring.h"

namespace prof {

struct OutsideProbe {
  int error = 0;  // errno with which the kernel refuses; 0 if programs can be sampled from outside
  bool samples_kernel = true;  // false: user code only
};

// Tries everything that sampling from outside needs on the calling process, and leaves nothing open.
OutsideProbe probe_outside_sampling();

// Opens one ring per processor, as large as this user may lock. `error` is 0 or an errno: EMFILE if there are
// too few descriptors (one per processor is needed), EPERM if the buffers may not be locked.
std::vector<PerfRing> open_rings(int& error);

struct OpenEvent {
  int descriptor;
  uint64_t id;     // as in samples
  uint32_t event;  // index in the configuration
};

struct EventRequest {
  std::span<const hpcrun::EventSpec> specs;
  bool samples_kernel = true;
  uint32_t stack_bytes = 0;  // of the stack, copied with each sample
  bool from_exec = true;     // count from the thread's next exec on, otherwise at once
};

// Opens the events (none of them REALTIME) on a thread, for it and everything that it creates from then on.
// Returns false with errno, and nothing left open, if the kernel refuses.
bool open_events(int tid, const EventRequest& request, const std::vector<PerfRing>& rings,
                 std::vector<OpenEvent>& opened);

}  // namespace prof
