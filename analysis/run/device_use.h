#pragma once
// The use of one accelerator by one process: "devices" in run.json.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/record_fields.h"

namespace prof {

struct DeviceUse {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  int32_t device = -1;   // index in the process, as in ProfileId
  std::string name, uuid, api, driver;
  double program_s = 0;    // its process's own time (analysis/pipeline/run_times.h); 0 if unknown
  double window_s = 0;     // since its first use, without pauses; 0 if unknown
  double busy_s = 0;       // in which a task of this process was active
  double kernels_s = 0;    // in which a kernel was active
  double copies_s = 0;     // in which a copy or fill was active
  double overlap_s = 0;    // in which a task was active, and no thread of the process waited for the device
  double cpu_waits_s = 0;  // in which a thread of the process waited for the device
  double paused_s = 0;     // since its first use, but not in window_s: measuring was paused
  double occupied_s = 0;   // busy, or another process had work for it
  double under_way_s = 0;  // at the end: it is only known that a task had not completed
  uint64_t tasks = 0;
  uint64_t incomplete = 0;      // tasks whose completion was not recorded
  uint64_t known_contexts = 0;  // tasks whose launch context was found without walking the stack

  // Returns the time in which no process had work for the device, as far as this one knows.
  double idle_s() const { return std::max(0.0, window_s - std::max(busy_s, occupied_s) - under_way_s); }

  struct Queue {
    uint32_t profile = 0;  // index into Database::profiles
    std::string name;
  };
  std::vector<Queue> queues;
};

// Visits all fields except the queues.
template <typename Visit>
void for_each_field(RecordOf<DeviceUse> auto& use, Visit visit) {
  visit("host", use.host);
  visit("rank", use.rank);
  visit("process", use.process);
  visit("device", use.device);
  visit("name", use.name);
  visit("uuid", use.uuid);
  visit("api", use.api);
  visit("driver", use.driver);
  visit("program_s", use.program_s);
  visit("window_s", use.window_s);
  visit("busy_s", use.busy_s);
  visit("kernels_s", use.kernels_s);
  visit("copies_s", use.copies_s);
  visit("occupied_s", use.occupied_s);
  visit("overlap_s", use.overlap_s);
  visit("cpu_waits_s", use.cpu_waits_s);
  visit("paused_s", use.paused_s);
  visit("under_way_s", use.under_way_s);
  visit("tasks", use.tasks);
  visit("incomplete", use.incomplete);
  visit("known_contexts", use.known_contexts);
}

}  // namespace prof
