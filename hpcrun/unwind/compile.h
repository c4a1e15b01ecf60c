#pragma once
// Compiles call frame information into an UnwindTable. Must not be called in handlers: it maps scratch memory
// and reads the sections directly.

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/table.h"

namespace hpcrun {

struct CfiSources {
  CfiSection eh_frame;
  // The sorted table of .eh_frame_hdr, if there is one; its bytes start at the header.
  Bytes eh_frame_hdr;
  uint64_t eh_frame_hdr_address = 0;
  CfiSection debug_frame;  // used for code that .eh_frame does not cover
  bool stays = false;      // the first two stay mapped as long as the process lives
};

enum class CompileStatus : uint8_t {
  Ok,
  NothingToCompile,  // no FDE in any section
  TooLarge,          // code spans more than the 4 GiB that a row can address
  NoMemory,
};

// Compiles a table in lasting memory. Records that are malformed or not supported are left out: the walk
// finds no information for their range.
[[nodiscard]] CompileStatus compile_table(const CfiSources& sources, UnwindTable& table) noexcept;

}  // namespace hpcrun
