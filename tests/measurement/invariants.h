#pragma once
// Test support: what must hold for whatever the reader returns, however broken the file.

#include <cstdint>
#include <span>

#include "hpcrun/measurement/reader.h"

namespace prof::test {

// nullptr, or the rule that is broken.
const char* broken_invariant(const ProcessMeasurement& measurement);

// Gives every page that starts with the extent magic a valid header checksum (and the file header too), so
// that changed bytes reach the code behind the checksums.
void forge_checksums(std::span<uint8_t> file);

}  // namespace prof::test
