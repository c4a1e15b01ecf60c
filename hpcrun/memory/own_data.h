#pragma once
// What belongs to prof in the measured process: its libraries. Threads that contend for data of these do so
// because they are measured, and the program has no part in it.
//
// Shared by all threads, without locks; async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/modules.h"

namespace hpcrun {

// For each module, as it gets its id.
void announce_to_own_data(const ModuleInfo& module) noexcept;

// True if the address, of code or data, lies in one of prof's libraries.
bool is_own_data(uint64_t address) noexcept;

}  // namespace hpcrun
