#pragma once
// A perf record as the kernel writes it for the events of events.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace prof {

struct PerfSample {
  uint64_t event = 0;             // the kernel's id of the opened event
  uint64_t period = 0;            // count since the event's last sample
  std::vector<uint64_t> callers;  // from frame pointers, the interrupted instruction first
  // Registers at the interrupted instruction or, in the kernel, at the system call, by DWARF number; 16 is
  // the instruction pointer. Empty if there was no user code (during an exec) or 32-bit code.
  std::vector<uint64_t> registers;
  std::vector<uint8_t> stack;  // from the stack pointer upwards
  bool stack_is_cut = false;   // the stack is larger than the requested piece
};

struct PerfMapping {
  uint64_t start = 0;
  uint64_t bytes = 0;
  uint64_t file_offset = 0;
  std::string path;
};

enum class PerfRecordType : uint8_t { Sample, Mapping, Name, Exec, Fork, Exit, SwitchIn, SwitchOut, Lost };

struct PerfRecord {
  PerfRecordType type = PerfRecordType::Lost;
  int pid = 0;           // of the process; 0 if the kernel no longer has a number for it
  int tid = 0;           // of the thread
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  int parent_pid = 0;    // Fork
  uint64_t lost = 0;     // Lost: how many records
  std::string name;      // Name and Exec
  PerfMapping mapping;
  PerfSample sample;
};

// Fields that events must request so that decode() understands their records (perf_event_attr::sample_type
// and sample_regs_user).
extern const uint64_t kSampleFields;
extern const uint64_t kSampleRegisters;

// Returns nothing for malformed records and for those that are not used here.
std::optional<PerfRecord> decode(std::span<const uint8_t> bytes);

}  // namespace prof
