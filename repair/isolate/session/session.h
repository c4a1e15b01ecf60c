#pragma once
// A session of isolation: the time in which threads may become twins (twin.h). The memory of the program is
// common then, but its private futexes would not be: a twin and a thread at home would not meet at them. So
// in a session *every* thread has its system calls dispatched to a handler of ours (prctl(2),
// PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11), which makes private futex calls as shared ones, and decides by a
// table where a call is made (call_table.h). Other than a seccomp filter it is taken back at the end, and no
// child inherits it.
//
// All threads enter and leave a session together, each in a handler of the request signal, so that none
// waits at a private futex while others wake shared ones. Threads that are made meanwhile enter it before
// they run the program's code.

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

// Called by the thread that they are about, where it is, in handlers too: they must be async-signal-safe. All
// may be null.
struct TwinHooks {
  void (*converted)() = nullptr;       // in the twin, at last
  void (*before_leaving)() = nullptr;  // in the twin, before it gives the thread back
  void (*before_call)() = nullptr;  // in the twin, before and after any system call of the program's that is
  void (*after_call)() = nullptr;   // not followed by giving back
  // In the twin, at every request signal that does not bring it home; with the handler's context.
  void (*asked)(const ucontext_t& interrupted) = nullptr;
  // Whether the twin is in the midst of something that it cannot leave: it gives the thread back by itself
  // then, when it is done (leave_where_asked()).
  bool (*is_busy)() = nullptr;
  // A twin is about to wait at, or wake others at, the word there, by a call of the kernel.
  void (*waits_on)(uint64_t address) = nullptr;
  // A session is about to begin, or has ended.
  void (*session)(bool begins) = nullptr;
  // All threads are at home, and the range's contents or protection are about to change.
  void (*memory_changes)(uint64_t low, uint64_t high) = nullptr;
  // As a session begins, by its caller, while all other threads stand still in handlers: makes what came
  // since common as well. False: that cannot be, and there is no session.
  bool (*all_stopped)() = nullptr;
  // In a thread that is to stand still as a session begins with moves_all, before it does. True: it is in a
  // call that has to end first, and calls stand_still_now() then.
  bool (*ends_call_first)() = nullptr;
  // For an address of code that stands for code of the program's, that of the program's: of a fault.
  uint64_t (*place_in_program)(uint64_t pc) = nullptr;
  // In the thread that is about to fork, when it has ended the session: leaves common memory.
  void (*before_fork)() = nullptr;
};

struct SessionOptions {
  // A real-time signal that nobody else uses and no thread blocks.
  int request_signal = 0;
  // hooks.all_stopped() moves the stacks of threads, and all else that they write: not even samples are taken
  // meanwhile.
  bool moves_all = false;
  // Bits of signals whose handlers make no calls that are dispatched (let_calls_pass()), and may be on a
  // stack that has no room for another: the request signal waits until they return.
  uint64_t sample_signals = 0;
  TwinHooks hooks;
  TwinSampling sampling;
};

enum class SessionStart : uint8_t {
  Done,
  AlreadyOn,
  NoDispatch,    // the kernel is older than 5.11, or refuses
  TooMany,       // threads, or no memory for them
  Unreachable,   // a thread did not take the request signal for kPatience
  NotCommon,     // hooks.all_stopped() said so
  SignalReader,  // the program reads signals from descriptors, which only know their own process
  WatchesTime,   // the program has its CPU time watched (cpu_time.h)
};

// Not async-signal-safe in one thing: the first call must not be made in a handler. Threads wait meanwhile,
// for some 50 us each.
SessionStart begin_isolation(const SessionOptions& options) noexcept;

// All threads are at home, and ordinary ones, afterwards. False, and the session goes on, where one
// cannot be reached for kPatience. At home only; also true where another thread ended it.
bool end_isolation() noexcept;

// How long all threads together are waited for, those that have come standing still: a thread that blocks all
// signals may wait for a lock of one of these, as the C library does when it makes threads. Then it is tried
// again later.
constexpr uint64_t kPatience = 200'000'000;  // ns

enum class Phase : uint32_t { Off, Entering, On, Leaving };

struct Session {
  std::atomic<Phase> phase{Phase::Off};
  std::atomic<uint32_t> turns{0};  // changes with the phase that threads wait for
  int pid = 0;
  int request_signal = 0;
  bool moves_all = false;
  uint64_t sample_signals = 0;
  TwinHooks hooks;
  TwinSampling sampling;
  std::atomic<uint32_t> number{0};   // of this session
  std::atomic<uint32_t> arrived{0};  // changes as threads come to wait for the change of phase
  // Threads that are about to enter: their system calls may be dispatched, and whoever takes SIGSYS from the
  // session waits until there are none.
  std::atomic<uint32_t> entering{0};
  std::atomic<uint32_t> leaving{0};             // threads that wait for the end of Phase::Leaving
  std::atomic<uint32_t> is_changing_phase{0};   // somebody begins or ends a session
  std::atomic<bool> failed{false};              // one of them cannot enter
  std::atomic<uint32_t> holds{0};               // nobody becomes a twin
  std::atomic<bool> has_private_memory{false};  // writable, since the session began: nobody becomes a twin
  std::atomic<bool> watches_time{false};        // SessionStart::WatchesTime, since the session began
  std::atomic<uint32_t> twins{0};               // threads that are, or are about to be
  std::atomic<uint32_t> beats{0};        // changes while the program runs, of a session that has a controller
  std::atomic<bool> ending{false};       // the process ends: dead twins are no news
  std::atomic<uint64_t> past_cpu_ns{0};  // of twins that left
};
extern Session session;

inline bool is_session_on() noexcept {
  return session.phase.load(std::memory_order_acquire) == Phase::On;
}

// Whether the thread has entered the session that is on, or about to be, and has not left it. Not of none.
struct ThreadRecord;
bool is_in_session(const ThreadRecord* record) noexcept;

// Before the process gets writable memory that is not common: a twin would have a copy of it for itself.
// Nobody becomes one from then on; whoever began the session ends it, and makes that memory common with the
// next.
inline void note_private_memory() noexcept {
  if (session.hooks.all_stopped) session.has_private_memory.store(true);
}

// At home: the program is about to have its CPU time watched. All threads are at home from here on, for the
// rest of the session.
void begin_to_watch_time() noexcept;

// Called by a thread at the end of the call for which TwinHooks::ends_call_first() put its standing still
// off. Async-signal-safe.
void stand_still_now() noexcept;

// Of the calling thread alone: its record, and the dispatch of its calls.
bool enter_session() noexcept;
void enter_session_as_new_thread() noexcept;
bool dispatch_calls(bool on) noexcept;
// Before the first thread has its calls dispatched: those of this library never are. Not in a handler.
void find_own_code() noexcept;
// Isolation::let_calls_pass (interface.h), and whether they pass.
bool let_calls_pass(bool passes) noexcept;
bool do_calls_pass() noexcept;

// The return from a handler of the runtime's at home, which would be a call that is dispatched: its handler
// would need room on the program's alternate stack, where Rust's has 8 KiB in all.
[[noreturn]] void return_from_sample(void* context) noexcept;

// Waits for twins that have left, if their processes have ended. One that ended though nobody sent it away
// takes the program with it, as the death of a thread would: it ends by the same signal. Parked originals
// look at their own ten times a second.
void look_at_twins() noexcept;

}  // namespace hpcrun
