#pragma once
// Writes what became of sampled accesses: pairs, totals, and accesses that stayed undecided. Belongs to one
// thread, which must be busy. Async-signal-safe.

#include "hpcrun/cct/waste_cells.h"
#include "hpcrun/memory_waste/watch.h"

namespace hpcrun {

// `is_certain`: false if others may have used the bytes: nothing is decided then.
void record_watch(WasteCells& cells, uint32_t thread, const Watch& watch, bool is_certain) noexcept;

// Records a sampled access that could not be watched.
void record_undecided(WasteCells& cells, uint32_t thread, WasteKind kind, NodeId node,
                      uint64_t bytes) noexcept;

}  // namespace hpcrun
