#pragma once
// Finds unwind information of modules that the snapshot does not have: loaded by libc itself, or still
// running their constructors inside dlopen. Called in the handler; uses glibc's lock-free _dl_find_object
// (glibc 2.35). The module is read with fault-safe loads only, because another thread may unload it at any
// moment. Async-signal-safe.

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>

#include "hpcrun/unwind/cfi.h"
#include "hpcrun/unwind/registry.h"

namespace hpcrun {

// Working memory of a lookup. Too large for a signal stack: lives in the walk's arena.
struct LiveScratch {
  static constexpr size_t kMaxHeaders = 24;  // linkers write 9 to 14
  static constexpr size_t kMaxPathBytes = 1024;
  static constexpr size_t kMaxRecordBytes = 4096;  // FDEs of hot/cold split functions reach 2 KiB

  dl_find_object found;
  link_map map;
  Elf64_Ehdr elf;
  CfiMachine machine;
  Cie cie;
  Fde fde;
  ImageDescription image;
  Elf64_Phdr headers[kMaxHeaders];
  char path[kMaxPathBytes];
  uint8_t cie_bytes[kMaxRecordBytes];
  uint8_t fde_bytes[kMaxRecordBytes];
};

struct LiveCode {
  uint16_t module = kModuleNone;
  uint64_t load_bias = 0;
  bool executable = false;  // in an executable segment
  bool has_row = false;     // scratch.machine is at the address's row
  bool signal_frame = false;
};

// Finds the module and the row of an address. Returns false if no loaded module has the address, or if glibc
// is older. Announces a module that is new.
[[nodiscard]] bool find_live_code(uint64_t address, LiveScratch& scratch, LiveCode& code) noexcept;

// Returns the path to record for the loader's name of a module. The program itself, which the loader calls
// "", is looked up (into the buffer). The vDSO is "[vdso]".
const char* module_path(const char* loader_name, char* buffer, size_t bytes) noexcept;

}  // namespace hpcrun
