#pragma once
// Finds the separate debug file of a module on this machine: by build-id, else by .gnu_debuglink. Never
// contacts a debuginfod server: measured data stay on the machine.

#include <elfutils/libdwfl.h>

#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"

namespace prof {

// A find_debuginfo callback for a Dwfl whose modules carry an AttributionOptions* as user data.
int find_local_debug_file(Dwfl_Module* module, void** user_data, const char* module_name, Dwarf_Addr base,
                          const char* file_name, const char* debuglink_file, GElf_Word debuglink_crc,
                          char** debug_file_name);

// Returns the build-id in the notes of an open ELF file; empty if it has none.
std::vector<uint8_t> build_id_of(Elf* elf);

}  // namespace prof
