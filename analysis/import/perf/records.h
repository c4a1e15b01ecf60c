#pragma once
// The records of a recording that imports look at, decoded. Texts and bytes lie in the recording.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/perf/format.h"

namespace prof::perf {

// What was sampled: one of the events that perf record was asked for.
struct Event {
  std::string name;  // "cycles:u"; empty: see event_name()
  perf_event_attr attributes{};
  std::vector<uint64_t> ids;
};

// All that perf has of one sample; what the event's sample_type lacks is 0 or empty. `weight`, `data_source`
// and `data_address` are what `perf mem record` and `perf c2c record` are about.
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

  // By the kernel's number; nothing where it was not recorded.
  std::optional<uint64_t> user_register(unsigned number) const;
  uint16_t cpu_mode() const { return misc & PERF_RECORD_MISC_CPUMODE_MASK; }
};

struct Mapping {
  int32_t pid = -1, tid = -1;
  uint64_t start = 0, bytes = 0, file_offset = 0;
  bool data = false;  // not of code
  bool kernel = false;
  std::span<const uint8_t> build_id;  // empty: not known
  std::string_view path;
};

struct Name {  // of a thread
  int32_t pid = -1, tid = -1;
  bool executed = false;  // another program was started in the process
  std::string_view name;
};

struct Fork {  // of a process, or where both are the same a thread
  int32_t pid = -1, parent_pid = -1, tid = -1, parent_tid = -1;
  std::optional<uint64_t> time_ns;
};

struct KernelSymbol {  // code that the kernel made at run time
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
  virtual void lost(uint64_t samples) = 0;  // that the kernel had no room for
};

// The name as perf prints it, "cpu-clock", where the recording has none.
std::string event_name(const perf_event_attr& attributes);

// Decodes a record of the kernel's, its header included, and hands it to the visitor. False where it is
// damaged. Those of no interest are skipped. `event`: of a sample.
bool visit_record(std::span<const uint8_t> record, size_t event, const perf_event_attr& attributes,
                  Sample& scratch, Visitor& visitor);

// When the record was made, where it says that; attributes are those of the first event.
std::optional<uint64_t> time_of(std::span<const uint8_t> record, const perf_event_attr& attributes);

// The id of the event that a sample is of; nothing where samples do not carry it.
std::optional<uint64_t> id_of_sample(std::span<const uint8_t> record, const perf_event_attr& attributes);

}  // namespace prof::perf
