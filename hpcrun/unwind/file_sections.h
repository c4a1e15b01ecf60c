#pragma once
// Reads sections that the loader does not map from the module's file. Must not be called in handlers.

#include "hpcrun/unwind/registry.h"
#include "hpcrun/unwind/scratch.h"

namespace hpcrun {

struct FileSections {
  Scratch<uint8_t> eh_frame;
  uint64_t eh_frame_address = 0;
  Scratch<uint8_t> debug_frame;
};

enum class FileStatus : uint8_t {
  Ok,
  Unreadable,  // no such file, or cut short
  NotElf,      // or without section headers
  Replaced,    // its build ID differs from the loaded module's
};

// Reads .debug_frame, and .eh_frame if `want_eh_frame`. A section that is missing or compressed stays empty.
[[nodiscard]] FileStatus read_file_sections(const char* path, const ImageDescription& image,
                                            bool want_eh_frame, FileSections& sections) noexcept;

}  // namespace hpcrun
