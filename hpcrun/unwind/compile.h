#pragma once
// Compiles call frame information into an UnwindTable. Outside handlers only: maps scratch memory, reads the
// sections directly.

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/table.h"

namespace hpcrun {

struct CfiSources {
  CfiSection eh_frame;
  // The sorted table of .eh_frame_hdr when there is one; its bytes start at the header.
  Bytes eh_frame_hdr;
  uint64_t eh_frame_hdr_address = 0;
  CfiSection debug_frame;  // used where .eh_frame has nothing
  bool stays = false;      // the first two lie in memory as long as the process
};

enum class CompileStatus : uint8_t {
  Ok,
  NothingToCompile,  // no FDE in any section
  TooLarge,          // code spans more than the 4 GiB that a row can address
  NoMemory,
};

// The table lives in lasting memory. Records that are malformed or not understood are left out: the walk
// finds no information for their range.
CompileStatus compile_table(const CfiSources& sources, UnwindTable& table) noexcept;

}  // namespace hpcrun
