#pragma once
// Call frame information of a large module, as the linker left it and sorted it (.eh_frame_hdr): walks look
// one function up and interpret it, where a compiled table would cost a program more at its start than walks
// ever save. Of a module that may go it is a copy. Immutable once built, lives as long as the
// process. Lookup is async-signal-safe; building is not.

#include <cstdint>

#include "hpcrun/unwind/cfi.h"

namespace hpcrun {

struct CfiSources;  // compile.h

class CfiIndex {
 public:
  // Below this a table takes a few milliseconds at most, and walks are faster with one.
  static constexpr uint32_t kLeastFunctions = 8'192;

  // Of a module whose .eh_frame has a sorted index of the usual form, with so many functions or more.
  // nullptr: it has none, it has information beside it (.debug_frame), or there is no memory.
  static const CfiIndex* build(const CfiSources& sources, uint32_t least_functions) noexcept;

  // What a lookup works in; too large for a handler's stack.
  struct Row {
    Cie& cie;
    Fde& fde;
    CfiMachine& machine;
  };

  // The machine stands at the row in force at the ELF address, as a table has it. False: there is none.
  bool find(uint64_t elf_address, Row row) const noexcept;

  uint32_t functions() const noexcept { return count_; }

 private:
  // Offsets from the header, as they lie in the file.
  struct Entry {
    int32_t start;
    int32_t fde;
  };

  bool parse(uint64_t fde_address, Cie& cie, Fde& fde) const noexcept;

  const Entry* entries_ = nullptr;
  uint32_t count_ = 0;
  uint64_t header_ = 0;  // ELF address
  CfiSection section_;
};

}  // namespace hpcrun
