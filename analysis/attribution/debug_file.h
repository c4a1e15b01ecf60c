#pragma once
// Finds the separate debug file of a module on this machine: by build-id, else by .gnu_debuglink. A
// debuginfod server is never asked: what is measured stays on the machine.

#include <elfutils/libdwfl.h>

#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"

namespace prof {

// To be the find_debuginfo callback of a Dwfl whose modules carry an AttributionOptions* as user data.
int find_local_debug_file(Dwfl_Module* module, void** user_data, const char* module_name, Dwarf_Addr base,
                          const char* file_name, const char* debuglink_file, GElf_Word debuglink_crc,
                          char** debug_file_name);

// The build-id in the notes of an open ELF file; empty when it has none.
std::vector<uint8_t> build_id_of(Elf* elf);

}  // namespace prof
