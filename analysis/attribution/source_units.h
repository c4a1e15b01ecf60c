#pragma once
// Attribution by DWARF: finds the compilation unit that covers an address, the functions that the compiler
// inlined there, and the line. A unit is read only if an address lies in it.

#include <vector>

#include "analysis/attribution/function_table.h"
#include "analysis/attribution/module_file.h"

namespace prof {

struct SourceChains {
  // chains[i] of addresses[i], outermost first. Empty if the debug information has no function there.
  std::vector<std::vector<AttributedFrame>> chains;
  // For addresses without a chain: the line alone, which assembly code has. line 0: unknown.
  std::vector<AttributedFrame> lines;
};

// Occasionally reopens `file`, to limit the memory that libdw holds. Returns empty vectors if there is no
// DWARF.
SourceChains attribute_by_dwarf(ModuleFile& file, std::span<const uint64_t> addresses, FunctionTable& table);

}  // namespace prof
