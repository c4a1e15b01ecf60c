#pragma once
// The enums of a run's records, in addition to the runtime's own (hpcrun/model, hpcrun/measurement/format.h).
// spelling.h has their names in JSON.

#include <cstdint>

namespace prof {

// The kind of data.
enum class DataKind : uint8_t { Unknown, Variable, Allocation };

// The source of evidence for contention.
enum class EvidenceSource : uint8_t {
  Breakpoints,
  Pebs,
  Ibs,
  PebsByPerf,  // in a recording of perf
  IbsByPerf,
  MemoryEventsOfPerf,  // likewise, of a processor that it does not name
  Pages,               // writes were counted, page by page
};

// A change of the source that makes threads stop contending for data.
enum class Remedy : uint8_t {
  None,            // nothing is known
  AlignObjects,    // separate objects share a line: give each whole lines
  PadElements,     // elements of an array share a line: give the element type whole lines
  SeparateFields,  // fields of one object share a line: move them to lines of their own
  CopyPerThread,   // threads use the same bytes: give each a copy, and sum them up when read
};

// The part of the source that gets an alignment.
enum class ChangedPart : uint8_t {
  Member,
  Type,
  Variable,
  Elements,  // of an array: wrap each in a struct
};

// The object or event for which a thread waits.
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

// The reason why a lock was not moved to a line of its own.
enum class LockObstacle : uint8_t { Elided, Memory, Priority, Robust, Shared, Spin };

// The action taken for the allocations of a site.
enum class SiteFate : uint8_t {
  Declined,
  Placed,
  Planned,  // placed by the plan that the run had from the start
};

// The action taken for a falsely shared page.
enum class PageFate : uint8_t { Shared, Isolated };

// The guarantee for the program's data while pages were isolated.
enum class Guarantee : uint8_t {
  None,       // nothing was isolated
  Annotated,  // all of the program's code was annotated with its atomic operations
  Calls,      // some code was not
};

}  // namespace prof
