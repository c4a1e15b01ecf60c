#pragma once
// Describes memory accesses at contended lines: from the runtime's watchpoints and samples, or from recorded
// hardware events.

#include <cstdint>
#include <string>

#include "hpcrun/model/memory_access.h"

namespace prof {

constexpr uint32_t kNoObject = UINT32_MAX;

// Loads that found their line in another processor's cache, as recorded by hardware. Zero if it recorded
// none.
struct LineTransfers {
  uint64_t samples = 0;
  double loads = 0;           // represented by the samples
  double modified = 0;        // of these: the line was modified there (HITM)
  double remote = 0;          // of the modified ones: in another node or socket
  double latency_cycles = 0;  // sum over all of them

  LineTransfers& operator+=(const LineTransfers& more) {
    samples += more.samples;
    loads += more.loads;
    modified += more.modified;
    remote += more.remote;
    latency_cycles += more.latency_cycles;
    return *this;
  }
};

struct ContentionAccess {
  uint32_t thread = 0;  // any number that identifies the thread in the run
  uint64_t time_ns = 0;
  uint64_t address = 0;
  uint16_t bytes = 0;
  hpcrun::AccessKind kind = hpcrun::AccessKind::Read;
  uint64_t stands_for = 1;  // accesses; comparable within one source, in any unit
  uint64_t weight_ns = 0;   // CPU time sampled there
  uint32_t context = 0;     // the caller's number of the calling context
  uint32_t object = kNoObject;
  LineTransfers transfers;
};

enum class ObjectKind : uint8_t { Static, Heap, Mapping, Stack, ThreadLocal };

// A piece of data that is one unit in the program: a variable or an allocation.
struct DataObject {
  ObjectKind kind = ObjectKind::Static;
  uint64_t begin = 0;  // address
  uint64_t bytes = 0;
  uint64_t born_ns = 0;
  uint64_t died_ns = UINT64_MAX;
  uint64_t align = 1;  // of an allocation: the alignment that was requested
  // Objects that one change of the source affects have one site: a variable, or an allocation site.
  uint32_t site = 0;
};

}  // namespace prof
