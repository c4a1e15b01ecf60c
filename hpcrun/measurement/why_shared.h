#pragma once
// The reasons for which a page is not isolated, as measurement files and the contract of repair/isolate have
// them.

#include <cstdint>

namespace hpcrun {

// The reason why a page is common memory: it cannot be isolated, or no longer is.
enum class WhyShared : uint64_t {
  None = 0,
  TrueSharing = 1,    // threads use the same bytes
  AtomicUse = 2,      // atomic instructions work on it
  SyncObject = 3,     // a lock or another synchronization object lies on it
  NotCommon = 4,      // converted threads cannot share this memory
  SystemData = 5,     // belongs to the C library, the loader or the runtime
  Stack = 6,          // or thread-local variables
  TooMany = 7,        // pages are isolated already
  NoSession = 8,      // the kernel, or a thread, refuses
  Forked = 9,         // the program forked, and its memory is private since
  Expensive = 10,     // commits and conversions took more than the sharing did
  AtomicModule = 11,  // atomic instructions in a module cannot be kept from accessing it
  Remapped = 12,      // the program unmapped it, or changed its mapping
  AtomicCode = 13,    // the program synchronizes by atomic operations of its own
  CpuTime = 14,       // the program has its CPU time watched, by a timer or a limit
  kCount,
};

}  // namespace hpcrun
