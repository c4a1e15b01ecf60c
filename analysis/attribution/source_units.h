#pragma once
// The DWARF side of attribution: which compilation unit covers an address, which functions the compiler
// inlined there, and the line. A unit is read only when an address falls into it.

#include <vector>

#include "analysis/attribution/function_table.h"
#include "analysis/attribution/module_file.h"

namespace prof {

struct SourceChains {
  // chains[i] of addresses[i], outermost first. Empty: no function there is known to the debug information.
  std::vector<std::vector<AttributedFrame>> chains;
  // For addresses without a chain: the line alone, which assembly code has. line 0: not known.
  std::vector<AttributedFrame> lines;
};

// Reopens `file` now and then to bound the memory that libdw holds. Empty vectors when there is no DWARF.
SourceChains attribute_by_dwarf(ModuleFile& file, std::span<const uint64_t> addresses, FunctionTable& table);

}  // namespace prof
