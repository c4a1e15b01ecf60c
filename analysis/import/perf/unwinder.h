#pragma once
// Call chains from what perf record --call-graph dwarf left of each sample: the registers and a piece of the
// stack. elfutils unwinds by the call frame information of the programs and libraries, which must be on this
// machine.

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
  StackPieceEnds,  // more of the stack would have been needed
  TooDeep,
  NoUnwindInfo,  // or what there is cannot be used
  Unsupported,   // not the registers of an x86-64 program
};

// A file that is mapped into processes.
struct UnwindModule {
  std::string path;
  uint64_t load_bias = 0;  // what to add to the file's addresses, given where a part of it is mapped
};

class Unwinder {
 public:
  explicit Unwinder(const AttributionOptions& options);  // which must outlive it
  Unwinder(const Unwinder&) = delete;
  ~Unwinder();

  // The file that a part of an address space is of, and where the file lies for it; an empty path where it
  // cannot be opened.
  using ModuleOf = UnwindModule (*)(const void* context, uint64_t start, const MappedPart& part);

  // Innermost address first, callers' as return address minus one. `process` tells address spaces apart.
  UnwindEnd unwind(uint64_t process, const AddressSpace& space, ModuleOf module_of, const void* context,
                   const Sample& sample, std::vector<uint64_t>& chain);

 private:
  struct Process;
  Process& process_of(uint64_t process, const AddressSpace& space, ModuleOf module_of, const void* context);

  const AttributionOptions& options_;
  std::map<uint64_t, std::unique_ptr<Process>> processes_;
};

}  // namespace prof::perf
