#pragma once
// What the library that isolates pages (libhpcrun-isolate.so) and the runtime say to each other. The library
// exports one Isolation; the runtime finds it by its name, and tells it which pages threads share falsely.
// All calls are async-signal-safe and may be made from any thread at any time, unless they say otherwise.

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace hpcrun {

constexpr char kIsolationName[] = "hpcrun_isolation";

// Why a page is not isolated, or not any more. In measurement files.
enum class WhyShared : uint64_t {
  None = 0,
  TrueSharing = 1,    // threads use the same bytes
  AtomicUse = 2,      // atomic instructions work on it
  SyncObject = 3,     // a lock, or what else threads meet at, lies on it
  NotCommon = 4,      // it is no memory that threads as processes could have in common
  SystemData = 5,     // of the C library, the loader or the runtime
  Stack = 6,          // or where a thread's own variables lie
  TooMany = 7,        // pages are isolated already
  NoSession = 8,      // the kernel, or a thread, refuses
  Forked = 9,         // the program made a copy of itself, and its memory is private since
  Expensive = 10,     // commits and conversions took more than the sharing did
  AtomicModule = 11,  // code of a module cannot be kept from working on it atomically
  Remapped = 12,      // the program gave the memory back, or changed what it is
  AtomicCode = 13,    // the program synchronises by atomic operations of its own
  CpuTime = 14,       // the program has its CPU time watched, by a timer or a limit
  kCount,
};

// Larger objects are left common where nothing was found (SHERIFF, section 3.3).
constexpr uint64_t kMostSmallBytes = 1024;

struct PageRequest {
  uint64_t address = 0;        // in the page
  bool is_allocation = false;  // of the program's allocator; otherwise it may be a variable
  uint32_t share_ppm = 0;      // of the CPU time, that threads were at lines of it that they share falsely
};

// What became of a page. `address` and `share_ppm` are the request's.
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
  uint64_t meetings = 0;  // commits, and calls that would have been one in a thread with private pages
  uint64_t commit_ns = 0;
  uint64_t merged_words = 0;
  uint64_t twins_cpu_ns = 0;
  bool was_annotated = false;  // all code said where it works atomically, as pages were isolated
  bool was_plain = false;      // some did not; both where libraries came or went
  // Meetings in a second of CPU time, as they were compared last: with pages of their own, and in common. 0:
  // they were not.
  uint64_t isolated_pace = 0;
  uint64_t common_pace = 0;
  bool is_over = false;  // the program executed an atomic instruction of its own (WhyShared::AtomicCode)
};

// Which pages are isolated, of those that can be.
enum class Isolates : uint8_t {
  Told,    // those of which the runtime says that threads share them falsely
  Random,  // variables and small allocations, shared or not (SHERIFF, section 3.3)
  // Those that several threads write to, so that it is seen what each writes (SHERIFF, section 4.1).
  Written,
};

// How the runtime samples threads that run as processes. Called by the thread that they are about, with all
// signals blocked, let_calls_pass() between; keep errno. All may be null.
struct TwinSampling {
  // Of timers, besides SIGTRAP of perf events: where the runtime keeps it, which may change.
  const int* signal = nullptr;
  void (*leave_home)() noexcept = nullptr;  // at home, before
  void (*begin)() noexcept = nullptr;       // in the process, at last
  void (*end)() noexcept = nullptr;         // in the process, before it ends
  void (*come_home)() noexcept = nullptr;   // at home again, or still where no process could be made
  // A signal in the process, on which it stays what it is. False: it is no sample.
  bool (*take)(int signal, const siginfo_t& info, void* context) noexcept = nullptr;
};

// Calls of another library of ours, which work on what threads meet at without a word to this one.
struct DirectLocks {
  // Threads may be processes from now on, and no such call begins any more; or may be none any more.
  void (*forbid)(bool is_forbidden) noexcept = nullptr;
  // Where each thread counts those that it is in, from its thread pointer on: a uint32_t. Threads get no
  // private page meanwhile.
  ptrdiff_t at = 0;
};

// The runtime's.
struct IsolationHost {
  int request_signal = 0;       // nobody else's, and never blocked by threads of the program
  uint64_t sample_signals = 0;  // bits of those that the runtime raises for samples
  Isolates isolates = Isolates::Told;
  // From the library's own thread.
  void (*tell)(const PageNews& news) noexcept = nullptr;
  // Of Isolates::Written: the calling thread changed these bytes of the line, a bit for each, since it was
  // looked at last, at a commit or kCommitNs ago. In handlers too, in a process that has the program's memory
  // but for private pages.
  void (*changed)(uint64_t line, uint64_t bytes) noexcept = nullptr;
  // In the library's own thread, as it begins: it is none of the program's. May be null.
  void (*begin_own_thread)() noexcept = nullptr;
  // In that thread, each kCommitNs while something is isolated, and once more when nothing is: what was done
  // until now, so that it is known of a program that crashes. May be null.
  void (*note)(const IsolationTotals& totals) noexcept = nullptr;
  TwinSampling sampling;
  DirectLocks direct_locks;
};

// The library's.
struct Isolation {
  // As measuring begins, before there are threads. False, and refusal() says why: nothing will be isolated.
  // Not async-signal-safe.
  bool (*start)(const IsolationHost& host) noexcept;
  // One clause for people, or nullptr: why nothing is isolated, or, where no thread became a process until
  // now, was not.
  const char* (*refusal)() noexcept;
  // Threads share the page falsely, and nothing is known that forbids that each has it for itself. Nothing
  // happens where it was asked for before.
  void (*isolate)(const PageRequest& page) noexcept;
  // They do, and something is known. A page that is isolated is isolated no more.
  void (*decline)(const PageRequest& page, WhyShared why) noexcept;
  // The memory is worked on in ways that nobody can see from outside: its pages are never isolated.
  void (*close)(const void* at, uint64_t bytes) noexcept;
  // An allocation of the program's: where pages are isolated without anybody's having found that threads
  // share them, these come into question; at random those of less than kMostSmallBytes.
  void (*offer)(const void* at, uint64_t bytes) noexcept;
  // Until now.
  void (*totals)(IsolationTotals& out) noexcept;
  // Whether system calls that the calling thread makes from anywhere are the kernel's, as the task that it
  // is; meanwhile it becomes no process. The result is what was before. In handlers that do not call the
  // program's.
  bool (*let_calls_pass)(bool passes) noexcept;
  // The calling thread ends, or the program does: it is at home from here on.
  void (*stay_home)() noexcept;
  // For an address in code that stands for the program's, and the stack pointer there: what both would be in
  // the program's own, and true.
  bool (*leave_moved_code)(uint64_t& pc, uint64_t& sp) noexcept;
  // Instead of a return from a handler of the runtime's at home, which would be a call that is dispatched.
  void (*return_from_sample)(void* context) noexcept;
  // The process ends: threads are stopped for nothing any more.
  void (*end)() noexcept;
  // The program is about to execute another one, which a signal of ours would kill; or that came to nothing.
  void (*execute)(bool is_about_to) noexcept;
  // Whether the byte lies in memory that threads as processes have in common: the kernel calls it shared, but
  // it is this process's alone.
  bool (*is_common)(const void* at) noexcept;
};

}  // namespace hpcrun

extern "C" __attribute__((visibility("default"))) const hpcrun::Isolation hpcrun_isolation;
