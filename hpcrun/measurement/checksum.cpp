#include "hpcrun/measurement/checksum.h"

#include <cpuid.h>
#include <nmmintrin.h>

#include <array>
#include <atomic>
#include <cstring>

namespace hpcrun {
namespace {

std::atomic<bool> has_instruction{false};

constexpr uint32_t kReversedPolynomial = 0x82f63b78;
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t slice = 1; slice < kSlices; ++slice) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t previous = tables[slice - 1][byte];
      tables[slice][byte] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

uint64_t load64(const uint8_t* at) {
  uint64_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint32_t by_table(uint32_t crc, const uint8_t* at, size_t bytes) {
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const uint64_t word = load64(at) ^ crc;
    crc = 0;
    for (size_t i = 0; i < kSlices; ++i) crc ^= kTables[kSlices - 1 - i][(word >> (8 * i)) & 0xff];
  }
  for (; bytes != 0; --bytes, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return crc;
}

__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t crc, const uint8_t* at, size_t bytes) {
  uint64_t wide = crc;
  for (; bytes >= 8; bytes -= 8, at += 8) wide = _mm_crc32_u64(wide, load64(at));
  crc = static_cast<uint32_t>(wide);
  for (; bytes != 0; --bytes, ++at) crc = _mm_crc32_u8(crc, *at);
  return crc;
}

}  // namespace

void detect_crc32c() noexcept {
  if (has_instruction.load(std::memory_order_relaxed)) return;  // already found, or by the parent of a fork
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0) {
    has_instruction.store(true, std::memory_order_relaxed);
  }
}

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept {
  const auto* at = static_cast<const uint8_t*>(data);
  return ~(has_instruction.load(std::memory_order_relaxed) ? by_instruction(~crc, at, bytes)
                                                           : by_table(~crc, at, bytes));
}

}  // namespace hpcrun
