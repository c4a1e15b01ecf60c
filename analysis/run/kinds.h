#pragma once
// What the records of a run tell apart, beside what the runtime's own enums do (hpcrun/model,
// hpcrun/measurement/format.h). How each is spelt in JSON says spelling.h.

#include <cstdint>

namespace prof {

// What data are.
enum class DataKind : uint8_t { Unknown, Variable, Allocation };

// By what it is known that threads contend for data.
enum class EvidenceSource : uint8_t {
  Breakpoints,
  Pebs,
  Ibs,
  PebsByPerf,  // in a recording of perf, ...
  IbsByPerf,
  MemoryEventsOfPerf,  // ... of a processor that it does not name
  Pages,               // writes were counted, page by page
};

// What to change in the source so that threads stop contending for data.
enum class Remedy : uint8_t {
  None,            // nothing is known
  AlignObjects,    // objects of their own share a line: give each whole lines
  PadElements,     // elements of an array do: give the element type whole lines
  SeparateFields,  // fields of one object do: move them to lines of their own
  CopyPerThread,   // threads use the same bytes: copies of their own, summed up when asked for
};

// What of the source gets an alignment.
enum class ChangedPart : uint8_t {
  Member,
  Type,
  Variable,
  Elements,  // of an array, each of which is to be wrapped in a struct
};

// What a thread waits for, of other threads.
enum class WaitedFor : uint8_t {
  UnknownLock,
  Mutex,
  ReadWriteLock,
  SpinLock,
  CriticalSection,
  OpenMpLock,
  Condition,
  Semaphore,
  Barrier,
  EndOfThread,
  ParallelRegion,  // the next one
};

// Why a lock got no line of its own.
enum class LockObstacle : uint8_t { Elided, Memory, Priority, Robust, Shared, Spin };

// What became of the allocations of a site.
enum class SiteFate : uint8_t {
  Declined,
  Placed,
  Planned,  // placed by the plan that the run had from the start
};

// What became of a page that threads shared falsely.
enum class PageFate : uint8_t { Shared, Isolated };

// What held for the program's data while pages were isolated.
enum class Guarantee : uint8_t {
  None,       // nothing was isolated
  Annotated,  // all of the program's code said where it works atomically
  Calls,      // some did not
};

}  // namespace prof
