#pragma once
// What one process did with one accelerator, as run.json has it under "devices".

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace prof {

struct DeviceUse {
  std::string host;
  int32_t rank = -1;
  int32_t process = -1;  // pid
  int32_t device = -1;   // index in the process, as in ProfileId
  std::string name, uuid, api, driver;
  double window_s = 0;     // from its first use on; 0: not known
  double busy_s = 0;       // in which a task of this process was active
  double kernels_s = 0;    // in which a kernel was
  double copies_s = 0;     // in which a copy or fill was
  double overlap_s = 0;    // in which a task was, and no thread of the process waited for the device
  double cpu_waits_s = 0;  // in which a thread of the process waited for the device
  double occupied_s = 0;   // busy, or another process had something to do for it
  uint64_t tasks = 0;
  uint64_t incomplete = 0;      // tasks that were not seen to complete
  uint64_t known_contexts = 0;  // tasks whose launch context was found without walking the stack

  // No process had anything to do for it, as far as this one knows.
  double idle_s() const { return std::max(0.0, window_s - std::max(busy_s, occupied_s)); }

  struct Queue {
    uint32_t profile = 0;  // index into Database::profiles
    std::string name;
  };
  std::vector<Queue> queues;
};

}  // namespace prof
