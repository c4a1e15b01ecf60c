#pragma once
// Looks up call frame information in the linker's own sorted index (.eh_frame_hdr), and interprets it. Meant
// for large modules: compiling a table at start would take longer than it could save the walks. If the module
// can be unloaded, the index works on a copy. Immutable once built, lives as long as the process. Lookup is
// async-signal-safe; building is not.

#include <cstdint>

#include "hpcrun/elf/frame_index.h"
#include "hpcrun/unwind/cfi.h"

namespace hpcrun {

struct CfiSources;  // compile.h

class CfiIndex {
 public:
  // The size from which an index is used. Smaller tables compile in a few milliseconds at most, and walks are
  // faster with one.
  static constexpr uint32_t kMinFunctions = 8'192;

  // Builds the index of a module whose .eh_frame_hdr has the usual form and at least `least_functions`
  // entries. Returns nullptr if it has not, if the module has .debug_frame as well, or if there is no memory.
  static const CfiIndex* build(const CfiSources& sources, uint32_t least_functions) noexcept;

  // Working memory of a lookup; too large for a handler's stack.
  struct Row {
    Cie& cie;
    Fde& fde;
    CfiMachine& machine;
  };

  // Moves the machine to the row in force at the ELF address, as a table would hold it. Returns false if
  // there is none.
  [[nodiscard]] bool find(uint64_t elf_address, Row row) const noexcept;

  [[nodiscard]] uint32_t functions() const noexcept { return count_; }

 private:
  [[nodiscard]] bool parse(uint64_t fde_address, Cie& cie, Fde& fde) const noexcept;

  const FrameIndexEntry* entries_ = nullptr;
  uint32_t count_ = 0;
  uint64_t header_ = 0;  // ELF address
  CfiSection section_;
};

}  // namespace hpcrun
