#pragma once
// libpfm4, which encodes events by their names. It is loaded at its first use: its tables of all processors
// take four times as many relocations as everything else that prof loads, and few commands need them.

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

// Returns the library, loaded and initialized until the process ends, or nullptr if it is not found or does
// not support this machine.
const Pfm* find_pfm();

}  // namespace prof
