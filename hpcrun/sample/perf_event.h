#pragma once
// Opens perf events in a way that does not disturb the program: close-on-exec, removed on exec, descriptor at
// the top of the limit. Pure system calls, also used by `prof` to probe the machine.

#include <cstdint>

namespace hpcrun {

struct PerfRequest {
  uint32_t type =
      1;  // perf_event_attr::type; PERF_TYPE_SOFTWARE (libpfm4 brings a <linux/perf_event.h> of its own)
  uint64_t config = 0;           // perf_event_attr::config; PERF_COUNT_SW_CPU_CLOCK
  uint32_t rate = 1000;          // per second of the event's clock; counters use frequency mode
  // Length of a clock's first period, up to begin_whole_periods(). 0: as all others.
  uint64_t first_period_ns = 0;
  uint64_t signal_data = 0;      // returned with the signal
  bool sigtrap = true;           // raise SIGTRAP synchronously (attr.sigtrap, Linux 5.13)
  bool inherit_threads = false;  // every thread created from now on gets its own copy
  bool exclude_kernel = false;
  int tid = 0;  // of this process; 0: the calling thread
  // For hardware that samples memory accesses:
  uint64_t config1 = 0;
  uint64_t config2 = 0;
  uint8_t precise_ip = 0;
  uint64_t record_fields = 0;     // PERF_SAMPLE_..., for a mapped ring; times are CLOCK_MONOTONIC
  bool excludes_nothing = false;  // not even a hypervisor, which AMD's IBS cannot exclude
  int number = -1;                // replaces the runtime's open descriptor with this number; -1: a new one
  bool is_spare = false;          // not opened (-EMFILE) if few descriptors are left to the program
};

// Opens a disabled event on a thread. Returns an adopted descriptor (guest/descriptors.h), or a negated
// errno. Async-signal-safe.
int open_perf_event(const PerfRequest& request) noexcept;

// Sets the regular period of a clock whose first period was different.
void begin_whole_periods(int descriptor, uint32_t rate) noexcept;

// Returns the event's count, or 0 if it cannot be read.
uint64_t read_perf_event(int descriptor) noexcept;

void enable_perf_event(int descriptor) noexcept;
void disable_perf_event(int descriptor) noexcept;

// False if the program has taken over the number by a raw system call.
bool is_perf_event(int descriptor) noexcept;

// Must be called after a duplicate replaced the event's descriptor: signals of F_SETSIG then carry its
// number.
void renew_perf_signals(int descriptor) noexcept;

}  // namespace hpcrun
