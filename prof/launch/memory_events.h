#pragma once
// The events by which this machine's processor samples memory accesses, for -e contention: of Intel's PEBS
// loads of lines that another core had modified, and stores, by libpfm4's names; of AMD's IBS all
// instructions.

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

// Tries each with the kernel. Those that it refuses for want of a permission are among them, so that reports
// can say so. `rate`: samples per second that are wanted of each thread.
MemoryEvents find_memory_events(uint32_t rate);

// As PROF_MEMORY_EVENTS has it; empty where there are none.
std::string format_memory_events(const MemoryEvents& found);

struct NamedMemoryEvent {
  hpcrun::MemoryEvent kind = hpcrun::MemoryEvent::Loads;
  const char* name = nullptr;  // libpfm4's, without its PMU; nullptr: there is none
};

// What the cores that libpfm4 knows by this name can sample.
struct CoreMemoryEvents {
  const char* pmu;
  std::array<NamedMemoryEvent, hpcrun::kMostMemoryEvents> events;
};

std::span<const CoreMemoryEvents> intel_memory_events();

// Adds libpfm4's encoding of "pmu::name" to a memory event. False: it has none.
bool encode_memory_event(const char* pmu, const NamedMemoryEvent& event, hpcrun::EventSpec& out);

}  // namespace prof
