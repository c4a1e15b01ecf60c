#pragma once
// The contract between the runtime and the library that isolates pages (libprof-isolate.so). The library
// exports one Isolation; the runtime finds it by its name, and names pages that threads share falsely. All
// calls are async-signal-safe and may be made from any thread at any time, unless they say otherwise.

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "hpcrun/measurement/why_shared.h"

namespace hpcrun {

constexpr char kIsolationName[] = "hpcrun_isolation";

// The size below which allocations are isolated at random. Larger ones are left common unless false sharing
// was found in them (SHERIFF, section 3.3).
constexpr uint64_t kMaxSmallBytes = 1024;

struct PageRequest {
  uint64_t address = 0;        // in the page
  bool is_allocation = false;  // of the program's allocator; otherwise it may be a variable
  uint32_t share_ppm = 0;      // of the CPU time: spent at falsely shared lines of the page
};

// The outcome for a page. `address` and `share_ppm` are the request's.
struct PageNews {
  PageRequest page;
  WhyShared why = WhyShared::None;  // None: it is isolated from now on
  uint64_t time_ns = 0;             // CLOCK_MONOTONIC
};

struct IsolationTotals {
  uint64_t conversions = 0;
  uint64_t conversion_ns = 0;  // all together
  uint64_t longest_conversion_ns = 0;
  uint64_t commits = 0;   // of all private pages of a thread
  uint64_t meetings = 0;  // commits, and calls at which a thread with private pages would have committed
  uint64_t commit_ns = 0;
  uint64_t merged_words = 0;
  uint64_t converted_cpu_ns = 0;
  // Set if all code was compiled by `prof cc` while pages were isolated, and if some code was not. Both may
  // be true, because libraries come and go.
  bool was_annotated = false;
  bool was_plain = false;
  // Meetings in a second of CPU time in the last comparison: with pages isolated, and with all memory common.
  // 0 if none was made.
  uint64_t isolated_pace = 0;
  uint64_t common_pace = 0;
  bool is_over = false;  // nothing is isolated any more (WhyShared::AtomicCode)
};

// Which pages are isolated if that is possible.
enum class Isolates : uint8_t {
  Requested,  // those that the runtime names as falsely shared
  Random,     // variables and small allocations, shared or not (SHERIFF, section 3.3)
  // Pages that several threads write, to find out what each of them writes (SHERIFF, section 4.1).
  Written,
};

// Callbacks that sample converted threads. Called by the thread concerned, with all signals blocked and its
// system calls not dispatched; must keep errno. Each may be null.
struct ConvertedThreadSampling {
  // The signal of timers, which may change. Perf events raise SIGTRAP.
  const int* signal = nullptr;
  void (*leave_home)() noexcept = nullptr;  // at home, before the conversion
  void (*begin)() noexcept = nullptr;       // in the new process, as the last step of the conversion
  void (*end)() noexcept = nullptr;         // in that process, before it ends
  void (*come_home)() noexcept = nullptr;   // at home again, also if no process could be created
  // Handles a signal in the process. Returns false if it is not a sample.
  bool (*take)(int signal, const siginfo_t& info, void* context) noexcept = nullptr;
};

// Calls of libprof-locks.so that work on locks directly, without a call that this library intercepts.
struct DirectLocks {
  // From forbid(true) to forbid(false) threads may be converted, and no such call may begin.
  void (*forbid)(bool is_forbidden) noexcept = nullptr;
  // Offset from the thread pointer of a uint32_t: in how many of them the thread is. It gets no private page
  // meanwhile.
  ptrdiff_t at = 0;
};

// Filled in by the runtime.
struct IsolationCallbacks {
  int request_signal = 0;       // used for nothing else, and never blocked by the program's threads
  uint64_t sample_signals = 0;  // bits of those that the runtime raises for samples
  Isolates isolates = Isolates::Requested;
  // Reports what became of a page. Called by the controller's thread.
  void (*tell)(const PageNews& news) noexcept = nullptr;
  // With Isolates::Written: the calling thread changed these bytes of the line, a bit for each, since its
  // last commit. Also called in handlers and in converted threads.
  void (*changed)(uint64_t line, uint64_t bytes) noexcept = nullptr;
  // Called by the controller's thread as it begins, which is not one of the program's. May be null.
  void (*begin_own_thread)() noexcept = nullptr;
  // Called by that thread every kCommitNs while pages are isolated, and once afterwards, so that the totals
  // of a program that crashes are known. May be null.
  void (*note)(const IsolationTotals& totals) noexcept = nullptr;
  ConvertedThreadSampling sampling;
  DirectLocks direct_locks;
};

// Exported by the library.
struct Isolation {
  // Must be called as measuring begins, before there are threads. Returns false if nothing will be isolated;
  // refusal() has the reason. Not async-signal-safe.
  bool (*start)(const IsolationCallbacks& host) noexcept;
  // Returns why nothing is or was isolated, one clause for the report, or nullptr.
  const char* (*refusal)() noexcept;
  // Requests that a falsely shared page be isolated. Does nothing if it was requested before.
  void (*isolate)(const PageRequest& page) noexcept;
  // Requests that the page not be isolated, with the reason. An isolated page is given up.
  void (*decline)(const PageRequest& page, WhyShared why) noexcept;
  // Excludes memory from isolation that is accessed in ways that the library cannot see.
  void (*close)(const void* at, uint64_t bytes) noexcept;
  // Offers an allocation of the program to Isolates::Random (if it is smaller than kMaxSmallBytes) and to
  // Isolates::Written.
  void (*offer)(const void* at, uint64_t bytes) noexcept;
  // Sums up what was done until now.
  void (*totals)(IsolationTotals& out) noexcept;
  // Lets the calling thread's system calls bypass dispatch, or stops doing so. The thread is not converted
  // while they do. Returns the previous setting. For handlers that do not call the program's handlers.
  bool (*let_calls_pass)(bool passes) noexcept;
  // Brings the calling thread home permanently: it ends, or the program does.
  void (*stay_home)() noexcept;
  // Replaces an address in a trampoline, and the stack pointer there, by what both would be in the program's
  // own code. Returns false for any other address.
  bool (*leave_moved_code)(uint64_t& pc, uint64_t& sp) noexcept;
  // Returns from a handler of the runtime at home. An ordinary return is a system call (rt_sigreturn), which
  // dispatch would intercept.
  void (*return_from_handler)(void* context) noexcept;
  // Must be called as the process ends. Threads are no longer stopped after that.
  void (*end)() noexcept;
  // Must be called before the program executes another one, which our signals would kill, and if that
  // fails.
  void (*execute)(bool is_about_to) noexcept;
  // True if the byte lies in common memory. The kernel lists that as shared, though it is this process's
  // alone.
  bool (*is_common)(const void* at) noexcept;
};

}  // namespace hpcrun

extern "C" __attribute__((visibility("default"))) const hpcrun::Isolation hpcrun_isolation;
