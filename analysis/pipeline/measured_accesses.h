#pragma once
// The memory accesses that the runtime saw of one process, by breakpoints or by hardware that samples them:
// of threads that were seen at a line for certain. Or what they were counted to write.

#include <functional>
#include <span>
#include <vector>

#include "analysis/contention/evidence.h"
#include "analysis/contention/pace.h"
#include "analysis/contention/written_data.h"
#include "analysis/pipeline/contention.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// `object_of`: the caller's number of what an access lies in, or kNoObject.
std::vector<ContentionAccess> measured_accesses(
    std::span<const ThreadInDatabase> threads,
    const std::function<uint32_t(const MeasuredAccess&)>& object_of);

// What threads were counted to write to lines that others wrote to as well. Of such a place only its address
// and its object are known.
std::vector<WrittenBytes> measured_writes(const ProcessMeasurement& measurement,
                                          std::span<const ThreadInDatabase> threads,
                                          const std::function<uint32_t(const MeasuredAccess&)>& object_of);

Paces measured_paces(std::span<const ThreadInDatabase> threads);

// The hardware that recorded the process's accesses; nothing: breakpoints did.
std::optional<EvidenceSource> contention_hardware(const ProcessMeasurement& measurement);

}  // namespace prof
