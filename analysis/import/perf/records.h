#pragma once
// The records that imports use, decoded. Texts and bytes refer to the recording.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/perf/format.h"

namespace prof::perf {

// An event that perf record sampled.
struct Event {
  std::string name;  // "cycles:u"; if empty, see event_name()
  perf_event_attr attributes{};
  std::vector<uint64_t> ids;
};

// All that perf records of one sample. Fields that the event's sample_type lacks are 0 or empty. `weight`,
// `data_source` and `data_address` come from `perf mem record` and `perf c2c record`.
struct Sample {
  size_t event = 0;  // index
  uint16_t misc = 0;
  uint64_t ip = 0;
  int32_t pid = -1, tid = -1;
  std::optional<uint64_t> time_ns;  // of the recording's clock
  uint64_t data_address = 0;
  uint64_t id = 0;
  uint32_t cpu = 0;
  uint64_t period = 0;
  std::vector<uint64_t> call_chain;  // innermost first, with the kernel's PERF_CONTEXT_ markers
  std::span<const uint8_t> raw;
  uint64_t user_abi = 0;  // PERF_SAMPLE_REGS_ABI_*
  uint64_t user_register_mask = 0;
  std::vector<uint64_t> user_registers;  // those of the mask, in the order of its bits
  std::span<const uint8_t> user_stack;   // from the stack pointer on
  uint64_t weight = 0;                   // of memory accesses: their latency
  uint64_t data_source = 0;              // perf_mem_data_src
  uint64_t transaction = 0;
  uint64_t physical_address = 0;
  uint64_t data_page_bytes = 0, code_page_bytes = 0;

  // Returns a register by the kernel's number; nullopt if it was not recorded.
  std::optional<uint64_t> user_register(unsigned number) const;
  uint16_t cpu_mode() const { return misc & PERF_RECORD_MISC_CPUMODE_MASK; }
};

struct Mapping {
  int32_t pid = -1, tid = -1;
  uint64_t start = 0, bytes = 0, file_offset = 0;
  bool data = false;  // not of code
  bool kernel = false;
  std::span<const uint8_t> build_id;  // empty if unknown
  std::string_view path;
};

struct Name {  // of a thread
  int32_t pid = -1, tid = -1;
  bool executed = false;  // another program was executed in the process
  std::string_view name;
};

struct Fork {  // of a process, or, if both IDs are equal, a thread
  int32_t pid = -1, parent_pid = -1, tid = -1, parent_tid = -1;
  std::optional<uint64_t> time_ns;
};

struct KernelSymbol {  // code that the kernel generated at run time
  uint64_t start = 0;
  uint32_t bytes = 0;
  std::string_view name;
};

// Called for each record in the order of time.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void visit(const Sample& sample) = 0;
  virtual void visit(const Mapping& mapping) = 0;
  virtual void visit(const Name& name) = 0;
  virtual void visit(const Fork& fork) = 0;
  virtual void visit(const KernelSymbol& symbol) = 0;
  virtual void lost(uint64_t samples) = 0;  // samples that the kernel had no room for
};

// Returns the name that perf prints, such as "cpu-clock", for an event without a name in the recording.
std::string event_name(const perf_event_attr& attributes);

// Decodes a kernel record, including its header, and passes it to the visitor. Returns false if it is
// damaged. Skips records that imports do not need. `event`: the index of a sample's event.
bool visit_record(std::span<const uint8_t> record, size_t event, const perf_event_attr& attributes,
                  Sample& scratch, Visitor& visitor);

// Returns the time of the record if it has one. `attributes`: those of the first event.
std::optional<uint64_t> time_of(std::span<const uint8_t> record, const perf_event_attr& attributes);

// Returns the id of the event that a sample belongs to; nullopt if samples do not have it.
std::optional<uint64_t> id_of_sample(std::span<const uint8_t> record, const perf_event_attr& attributes);

}  // namespace prof::perf
