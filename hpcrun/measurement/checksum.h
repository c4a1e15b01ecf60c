#pragma once
// Computes CRC32C (Castagnoli), the checksum of measurement files. Used by the writer in the measured
// process, and by the reader. Async-signal-safe. crc32c(crc32c(0, a), b) is the checksum of a followed by b.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept;

// Checks whether the processor has the SSE4.2 instruction; until then a table is used. Must not be called in
// handlers: cpuid takes tens of microseconds in a virtual machine.
void detect_crc32c() noexcept;

}  // namespace hpcrun
