#pragma once
// Test support: invariants of whatever the reader returns, however damaged the file.

#include <cstdint>
#include <span>

#include "hpcrun/measurement/reader.h"

namespace prof::test {

// Returns nullptr, or the rule that is broken.
const char* broken_invariant(const ProcessMeasurement& measurement);

// Gives the file header and every page that starts with the extent magic a valid header checksum, so that
// changed bytes reach the code after the checksums.
void forge_checksums(std::span<uint8_t> file);

}  // namespace prof::test
