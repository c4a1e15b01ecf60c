#pragma once
// What the library that stands in front of the locks (hpcrun/sync/preload) and the runtime say to each other.
// Where waiting is measured, a lock that is free costs a program nothing but a look at `waiting` when it is
// released. All functions may be called from any thread at any time, keep errno, and are async-signal-safe
// but for the program's own rules about locks.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Locks share a place by their addresses. More would be looked at in vain less often, and leave the first
// level cache.
constexpr uint32_t kLockPlaces = 4096;

inline uint32_t lock_place(const void* lock) noexcept {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(lock) * 0x9e3779b97f4a7c15u >> 52);
}
static_assert(uint64_t{1} << (64 - 52) == kLockPlaces);

// On the stack of the thread that waits.
struct LockWait {
  const void* object = nullptr;    // what is waited for
  const void* function = nullptr;  // that the program called; stands for the call in its path
  LockKind kind{};
  bool in_team = false;  // OpenMP makes it wait
  bool is_open = false;
  uint8_t before = 0;  // the thread's Activity (activity.h)
  uint32_t node = 0;
  uint32_t generation = 0;
  uint64_t since_ns = 0;  // on the clock that pauses stop
  uint32_t place = 0;     // LockHolders
  void* thread = nullptr;
  void* lock = nullptr;
  void* open = nullptr;  // the cell that tells of it
};

struct SyncInterface {
  // How many threads wait for locks of this place.
  const std::atomic<uint32_t>* waiting;
  // `object`, `function`, `kind` and `in_team` are set; the thread is about to wait. `caller` is code of the
  // library, whose frames are left out.
  void (*begin)(LockWait& wait, const void* caller) noexcept;
  // `has_it`: the wait was not in vain, and a lock is the thread's now. `counts` is false where the call
  // found that it need not, or must not, wait.
  void (*end)(LockWait& wait, bool has_it, bool counts) noexcept;
  // The thread is about to release a lock at whose place somebody waits, or to wait without it.
  void (*release)(const void* lock, LockKind kind, const void* function, const void* caller) noexcept;
  // OpenMP's waits may run tasks from now on.
  void (*begin_tasks)() noexcept;
};

// Why a lock does not get a line of its own (repair/locks).
enum class LockDeclined : uint8_t {
  Robust,    // the C library has its own use for the words in which the way would lie,
  Priority,  // or the kernel for the lock itself: priorities are inherited, or protected
  Shared,    // other processes do not know the way
  Elided,    // transactions of the processor stand in for the lock
  Spin,      // it has no room for the way
  NoMemory,
};

class ContendedLines;

// Where locks are to get lines of their own.
struct LockRepair {
  const ContendedLines* lines;  // those at which threads meet
  // What became of a lock, which is told of once. The thread has it.
  void (*moved)(const void* lock) noexcept;
  void (*declined)(LockDeclined reason) noexcept;
  // Whether memory is shared with no other program's process, though the kernel calls it shared.
  bool (*is_own)(const void* at) noexcept;
};

// Why a mutex is not taken and released on the direct way (hpcrun/sync/preload/direct_mutex.h). Bits.
enum Detour : uint32_t {
  kUnknownMutexes = 1,  // the C library's are not made as those that we know, or nobody has looked yet
  kFollowed = 2,        // who waits for whom is measured
  kInSession = 4,       // threads may run as processes (repair/isolate/session/session.h)
  kUnheard = 8,         // whether they do is not told any more
};

// The library's, set by the runtime as it comes to know; nullptr: that is not asked for, now.
struct SyncSwitches {
  std::atomic<uint32_t> detours{kUnknownMutexes};       // none: the direct way
  std::atomic<const SyncInterface*> followed{nullptr};  // who waits for whom is measured
  std::atomic<const LockRepair*> repair{nullptr};
  // Where each thread counts the calls that it is in on the direct way, from its thread pointer on: a
  // uint32_t. Set before the runtime knows of the switches.
  ptrdiff_t direct_calls = 0;

  void set_detour(Detour why, bool is_needed) noexcept {
    is_needed ? detours.fetch_or(why) : detours.fetch_and(~uint32_t{why});
  }
};

}  // namespace hpcrun

// The runtime exports it under this name. `code` is code of the library, whose frames are left out of call
// paths.
extern "C" void hpcrun_sync_attach(const void* code, hpcrun::SyncSwitches* switches) noexcept;
constexpr char kSyncAttachName[] = "hpcrun_sync_attach";
