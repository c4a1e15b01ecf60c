#pragma once
// libpfm4, which gives events their encodings: loaded by whoever first needs it. Its tables of all processors
// take four times as many relocations as all else that prof loads together, and few commands ask for them.

#include <perfmon/pfmlib_perf_event.h>

namespace prof {

struct Pfm {
  decltype(&pfm_get_version) get_version;
  decltype(&pfm_strerror) strerror;
  decltype(&pfm_get_os_event_encoding) get_os_event_encoding;
  decltype(&pfm_get_pmu_info) get_pmu_info;
  decltype(&pfm_get_event_next) get_event_next;
  decltype(&pfm_get_event_info) get_event_info;
};

// Loaded and initialized, until the process ends; nullptr: the library is not to be found, or knows nothing
// of this machine.
const Pfm* find_pfm();

}  // namespace prof
