#pragma once
// Which memory is the profiler's: static data of the runtime and of the libraries that come with it, and what
// the runtime mapped for itself (hpcrun/guest/own_ranges.h). Threads contend for it as for any other data,
// but it is no finding about the program. Lock-free and async-signal-safe.

#include <cstdint>

namespace hpcrun {

// Called for each load module as it becomes known. Remembers the mapped range [start, end) if the module is
// one of the profiler's, by the name of its file; nothing happens with others.
void note_profiler_data(const char* path, uint64_t start, uint64_t end) noexcept;

// Returns whether the address is in such a module, or in memory that the runtime mapped.
bool is_profiler_data(uint64_t address) noexcept;

}  // namespace hpcrun
