#pragma once
// A record of an Accesses stream that is no access: what hardware told of the one that comes next in the
// stream (Intel PEBS, AMD IBS), by which that is known. Who does not know it takes the next one for seen and
// no more.

#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

constexpr uint64_t kAccessHardware = kAccessSeen;  // of the bits: this alone, which no access has

// Of loads. Bits.
constexpr uint32_t kToldSnoops = 1;        // whether other caches had the line is known
constexpr uint32_t kToldPeer = 2;          // another core's cache gave it
constexpr uint32_t kToldModified = 4;      // and had it modified (HITM)
constexpr uint32_t kToldRemote = 8;        // from another node or socket
constexpr uint32_t kToldSharedCache = 16;  // it came from a cache of several cores

struct HardwareAccess {
  uint64_t period = 0;  // events that the record stands for, below 2^63; 0: hardware told nothing
  uint64_t cycles = 0;  // that it took; 0: not known
  uint32_t told = 0;    // kTold...
};

// In place of the address, the object and the bytes.
constexpr HardwareAccess hardware_access(uint64_t address, uint64_t object, uint64_t bytes) {
  return {address, object, static_cast<uint32_t>(bytes)};
}

}  // namespace hpcrun
