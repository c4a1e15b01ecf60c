#pragma once
// The events with which this machine's processor samples memory accesses, for -e contention. With Intel's
// PEBS they are stores, and loads of lines that another core had modified, by libpfm4's names. With AMD's IBS
// they are all instructions.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "hpcrun/sample/config.h"

namespace prof {

struct MemoryEvents {
  hpcrun::MemoryHardware hardware = hpcrun::MemoryHardware::None;
  std::vector<hpcrun::EventSpec> events;
};

// Tries each event with the kernel. Events that it refuses for lack of permission are included, so that
// reports can say so. `rate`: samples per second and thread.
MemoryEvents find_memory_events(uint32_t rate);

// Formats events for PROF_MEMORY_EVENTS; empty if there are none.
std::string format_memory_events(const MemoryEvents& found);

struct NamedMemoryEvent {
  hpcrun::MemoryEvent kind = hpcrun::MemoryEvent::Loads;
  const char* name = nullptr;  // libpfm4's, without its PMU; nullptr: none
};

// The events that cores with this name in libpfm4 can sample.
struct CoreMemoryEvents {
  const char* pmu;
  std::array<NamedMemoryEvent, hpcrun::kMaxMemoryEvents> events;
};

std::span<const CoreMemoryEvents> intel_memory_events();

// Adds libpfm4's encoding of "pmu::name" to a memory event. Returns false if libpfm4 has none.
bool encode_memory_event(const char* pmu, const NamedMemoryEvent& event, hpcrun::EventSpec& out);

}  // namespace prof
