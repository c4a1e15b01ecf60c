#pragma once
// CRC32C (Castagnoli), the checksum of measurement files. Used by the writer inside the measured process and
// by the reader. Async-signal-safe. crc32c(crc32c(0, a), b) is the checksum of a followed by b.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept;

// Looks once whether the processor has the SSE4.2 instruction (cpuid costs tens of microseconds in a virtual
// machine, so not in a handler); until then a table is used.
void detect_crc32c() noexcept;

}  // namespace hpcrun
