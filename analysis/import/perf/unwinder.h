#pragma once
// Unwinds call chains from what perf record --call-graph dwarf stores of each sample: the registers and a
// piece of the stack. elfutils uses the call frame information of the programs and libraries, which must be
// on this machine.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/import/perf/address_space.h"
#include "analysis/import/perf/records.h"

namespace prof::perf {

enum class UnwindEnd : uint8_t {
  EndOfStack,      // complete
  StackPieceEnds,  // the recorded piece of the stack is too short
  TooDeep,
  NoUnwindInfo,  // or it cannot be used
  Unsupported,   // registers of something other than an x86-64 program
};

// A file that is mapped into processes.
struct UnwindModule {
  std::string path;
  uint64_t load_bias = 0;  // added to the file's addresses, given where a part of it is mapped
};

class Unwinder {
 public:
  explicit Unwinder(const AttributionOptions& options);  // must outlive it
  Unwinder(const Unwinder&) = delete;
  ~Unwinder();

  // Returns the file that a part of an address space belongs to, and its load bias; the path is empty if the
  // file cannot be opened.
  using ModuleOf = UnwindModule (*)(const void* context, uint64_t start, const MappedPart& part);

  // Returns the innermost address first, and return addresses minus one for callers. `process` identifies the
  // address space.
  UnwindEnd unwind(uint64_t process, const AddressSpace& space, ModuleOf module_of, const void* context,
                   const Sample& sample, std::vector<uint64_t>& chain);

 private:
  struct Process;
  Process& process_of(uint64_t process, const AddressSpace& space, ModuleOf module_of, const void* context);

  const AttributionOptions& options_;
  std::map<uint64_t, std::unique_ptr<Process>> processes_;
};

}  // namespace prof::perf
