#pragma once
// A record of an Accesses stream that is not an access. It holds what hardware reported about the access that
// follows in the stream (Intel PEBS, AMD IBS). A reader that does not support it only treats the next access
// as observed.

#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr uint64_t kAccessHardware = kAccessSeen;  // the only bit set, which no access has

// Properties of loads. Bits.
constexpr uint32_t kLoadReportsSnoops = 1;     // it is known whether other caches had the line
constexpr uint32_t kLoadFromPeer = 2;          // another core's cache supplied it
constexpr uint32_t kLoadModified = 4;          // and had modified it (HITM)
constexpr uint32_t kLoadRemote = 8;            // from another node or socket
constexpr uint32_t kLoadFromSharedCache = 16;  // supplied by a cache that several cores share

struct HardwareAccess {
  uint64_t period = 0;  // events that the record represents, below 2^63; 0: hardware reported nothing
  uint64_t cycles = 0;  // that it took; 0: not known
  uint32_t load_bits = 0;  // kLoad...
};

// Decodes the fields that hold the address, the object and the bytes in other records.
constexpr HardwareAccess hardware_access(uint64_t address, uint64_t object, uint64_t bytes) {
  return {address, object, static_cast<uint32_t>(bytes)};
}

}  // namespace hpcrun
