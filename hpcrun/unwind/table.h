#pragma once
// Defines the compiled unwind table of one load module: sorted rows of address -> rule. Immutable once built,
// in our own memory, which lives as long as the process. Lookup is async-signal-safe; building (compile.h) is
// not.

#include <cstdint>

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/cfi_index.h"
#include "hpcrun/unwind/rule.h"

namespace hpcrun {

// A rule that is valid from its offset up to the next row's. Offsets are from the table's first address.
struct Row {
  uint32_t offset;
  uint32_t rule;  // index into rules; rule 0 has kind None
};
static_assert(sizeof(Row) == 8);

// The instructions for a rule of kind Interpret, copied from the module.
struct CfiProgram {
  Cie cie;
  Fde fde;
};

struct UnwindTable {
  // A search starts from an index with one entry per block of code: it takes three or four probes instead of
  // seventeen.
  static constexpr unsigned kBlockShift = 8;

  uint64_t first = 0;  // ELF address of the first row
  uint64_t end = 0;    // ELF address of the end of the last FDE
  const Row* rows = nullptr;
  uint32_t row_count = 0;
  const uint32_t* blocks = nullptr;  // row in force at the start of each block of 1 << kBlockShift bytes
  uint32_t block_count = 0;
  const Rule* rules = nullptr;
  uint32_t rule_count = 0;
  const CfiProgram* programs = nullptr;
  uint32_t program_count = 0;
  const CfiIndex* index = nullptr;  // replaces all of the above for a large module
};

// Returns the address from which the rule for an ELF address is in force. An instruction begins there.
// Returns 0 if the module has no call frame information for the address.
uint64_t row_begin(const UnwindTable& table, uint64_t elf_address) noexcept;

// Returns the rule for an ELF address; its kind is None if the module has no call frame information for it.
const Rule& lookup(const UnwindTable& table, uint64_t elf_address) noexcept;

}  // namespace hpcrun
