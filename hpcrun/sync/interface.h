#pragma once
// Defines the interface between the runtime and the library that interposes on locks (hpcrun/sync/preload).
// While waiting is measured, a free lock costs a program only a check of `waiting` at its release. All
// functions may be called from any thread at any time, preserve errno, and are async-signal-safe as far as
// the program's own rules about locks allow.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Locks are mapped to places by address. More places would reduce false hits, but would not fit into the
// first-level cache.
constexpr uint32_t kLockPlaces = 4096;

inline uint32_t lock_place(const void* lock) noexcept {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15u >> 52);
}
static_assert(uint64_t{1} << (64 - 52) == kLockPlaces);

// On the stack of the waiting thread.
struct LockWait {
  const void* object = nullptr;  // the object waited for
  // The function that the program called, which represents the call in its path.
  const void* function = nullptr;
  LockKind kind{};
  bool in_team = false;  // the wait is made by OpenMP
  bool is_open = false;
  uint8_t before = 0;  // the thread's Activity (activity.h)
  uint32_t node = 0;
  uint32_t generation = 0;
  uint64_t since_ns = 0;  // on the clock that stops during pauses
  uint32_t slot = 0;      // LockHolders
  void* thread = nullptr;
  void* lock = nullptr;
  void* open = nullptr;  // the cell that records it
};

struct SyncInterface {
  // Number of threads that wait for locks, by place.
  const std::atomic<uint32_t>* waiting;
  // Called before a thread waits. `object`, `function`, `kind` and `in_team` must be set. `caller` is code of
  // the library, whose frames are removed.
  void (*begin)(LockWait& wait, const void* caller) noexcept;
  // Called after the wait. `has_it`: the wait succeeded, and the thread holds the lock now. `counts` is false
  // if the call did not need to wait, or must not.
  void (*end)(LockWait& wait, bool has_it, bool counts) noexcept;
  // Called before a thread releases a lock at whose place a thread waits, or gives it up to wait for a
  // condition.
  void (*release)(const void* lock, LockKind kind, const void* function, const void* caller) noexcept;
  // Called when OpenMP's waits may run tasks from now on.
  void (*begin_tasks)() noexcept;
};

// Why a lock is not moved to a line of its own (repair/locks).
enum class LockDeclined : uint8_t {
  Robust,    // the C library uses the words that would hold the address,
  Priority,  // or the kernel uses the lock itself: priority inheritance or protection
  Shared,    // other processes could not follow the address
  Elided,    // transactions of the processor elide the lock
  Spin,      // it has no room for the address
  NoMemory,
};

class ContendedLines;

// Set if locks may be moved to lines of their own.
struct LockRepair {
  const ContendedLines* lines;  // the lines that threads contend for
  // Report the result for a lock, once. The calling thread holds it.
  void (*moved)(const void* lock) noexcept;
  void (*declined)(LockDeclined reason) noexcept;
  // True if memory is shared with no other program's process, although the kernel calls it shared.
  bool (*is_own)(const void* at) noexcept;
};

// Reasons why a mutex is not locked and unlocked directly (hpcrun/sync/preload/direct_mutex.h). Bits.
enum Detour : uint32_t {
  kUnknownMutexes = 1,  // the C library's mutexes have an unknown layout, or were not checked yet
  kFollowed = 2,        // waits and holders are recorded
  kInSession = 4,       // threads may be converted (repair/isolate/session/session.h)
  kUnheard = 8,         // the runtime can no longer report whether they may be
};

// Owned by the library, set by the runtime. nullptr: not requested at present.
struct SyncSwitches {
  std::atomic<uint32_t> detours{kUnknownMutexes};       // 0: lock directly
  std::atomic<const SyncInterface*> followed{nullptr};  // set while waits and holders are recorded
  std::atomic<const LockRepair*> repair{nullptr};
  // Offset, from the thread pointer, of each thread's count of direct calls in progress: a uint32_t. Set
  // before the library registers the switches.
  ptrdiff_t direct_calls = 0;

  void set_detour(Detour why, bool is_needed) noexcept {
    is_needed ? detours.fetch_or(why) : detours.fetch_and(~uint32_t{why});
  }
};

}  // namespace hpcrun

// Registers the library. Exported by the runtime under this name. `code` is code of the library, whose frames
// are removed from call paths.
extern "C" void hpcrun_sync_attach(const void* code, hpcrun::SyncSwitches* switches) noexcept;
constexpr char kSyncAttachName[] = "hpcrun_sync_attach";
