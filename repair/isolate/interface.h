#pragma once
// What the library that isolates pages (libhpcrun-isolate.so) and the runtime say to each other. The library
// exports one Isolation; the runtime finds it by its name, and tells it which pages threads share falsely.
// All calls are async-signal-safe and may be made from any thread at any time, unless they say otherwise.

#include <signal.h>

#include <atomic>
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
  uint64_t commits = 0;  // of all private pages of a thread
  uint64_t commit_ns = 0;
  uint64_t merged_words = 0;
  uint64_t twins_cpu_ns = 0;
};

// The runtime's.
struct IsolationHost {
  int request_signal = 0;       // nobody else's, and never blocked by threads of the program
  uint64_t sample_signals = 0;  // bits of those that the runtime raises for samples
  bool always = false;          // pages are isolated whether threads share them or not
  // Whether the signal is one that the runtime raises for itself, of which the program sees nothing. In
  // handlers.
  bool (*is_sample)(int signal, const siginfo_t& info) noexcept = nullptr;
  // From the library's own thread.
  void (*tell)(const PageNews& news) noexcept = nullptr;
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
  // An allocation of the program's, or a part of one, of less than kMostSmallBytes: where pages are isolated
  // without anybody's having found that threads share them, these come into question. nullptr: they are not.
  void (*offer)(const void* at) noexcept;
  // Until now.
  void (*totals)(IsolationTotals& out) noexcept;
  // Around what a handler of the runtime's does at home: its system calls are made as if no page were
  // isolated. The second where the program's handler follows, the third instead of a return; both set that
  // back.
  void (*begin_sample)() noexcept;
  void (*end_sample)() noexcept;
  void (*return_from_sample)(void* context) noexcept;
  // The process ends: threads are stopped for nothing any more.
  void (*end)() noexcept;
};

}  // namespace hpcrun

extern "C" __attribute__((visibility("default"))) const hpcrun::Isolation hpcrun_isolation;
