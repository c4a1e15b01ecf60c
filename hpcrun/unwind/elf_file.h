#pragma once
// Sections that the loader does not map, read from the module's file. Outside handlers only.

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
  Replaced,    // its build id is not the loaded one's
};

// Reads .debug_frame, and .eh_frame when asked for; what the file lacks (or holds compressed) stays empty.
FileStatus read_file_sections(const char* path, const ImageDescription& image, bool want_eh_frame,
                              FileSections& sections) noexcept;

}  // namespace hpcrun
