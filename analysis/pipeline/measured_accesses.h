#pragma once
// Reads the memory accesses that the runtime recorded in one process with watchpoints or sampling hardware,
// restricted to lines at which the thread was observed. Also reads counted writes.

#include <functional>
#include <span>
#include <vector>

#include "analysis/contention/evidence.h"
#include "analysis/contention/pace.h"
#include "analysis/contention/written_data.h"
#include "analysis/pipeline/contention.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// `object_of` returns the caller's number of the object that an access lies in, or kNoObject.
std::vector<ContentionAccess> measured_accesses(
    std::span<const ThreadInDatabase> threads,
    const std::function<uint32_t(const MeasuredAccess&)>& object_of);

// Returns the writes counted per thread, to lines that other threads wrote to as well. `object_of` gets only
// their address and object.
std::vector<WrittenBytes> measured_writes(const ProcessMeasurement& measurement,
                                          std::span<const ThreadInDatabase> threads,
                                          const std::function<uint32_t(const MeasuredAccess&)>& object_of);

Paces measured_paces(std::span<const ThreadInDatabase> threads);

// Returns the hardware that recorded the process's accesses; nullopt if watchpoints did.
std::optional<EvidenceSource> contention_hardware(const ProcessMeasurement& measurement);

}  // namespace prof
