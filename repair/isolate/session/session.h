#pragma once
// A session is the period during which threads can be converted into processes (converted_thread.h). When a
// session begins, all memory of the program is *common*: shared by all threads, converted or not. Pages that
// are isolated later are not, nor is memory that note_private_memory() reports. Private futexes do not
// work across processes: the kernel would not match waiters in the converted thread's process with wakers in
// the program's process. Therefore the system calls of *every* thread are intercepted by prof's SIGSYS
// handler during a session (prctl(2), PR_SET_SYSCALL_USER_DISPATCH, Linux 5.11). It turns private futex calls
// into shared ones, and executes each call in the process that call_table.h prescribes: the program's, or the
// converted thread's. Unlike a seccomp filter, dispatch ends with the session, and children do not inherit
// it.
//
// All threads enter and leave a session together, each in the handler of the request signal. Otherwise one
// thread could wait on a private futex while another wakes the shared one. A thread that is created during a
// session enters it before it runs the program's code.

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "repair/isolate/contract/interface.h"

namespace hpcrun {

// Called by the thread concerned, also in handlers: each must be async-signal-safe. Each may be null.
struct ConversionHooks {
  // In the converted thread, as the last step of its conversion.
  void (*converted)() = nullptr;
  // In the converted thread, before it returns to the program's process.
  void (*before_leaving)() = nullptr;
  // In the converted thread, around each system call of the program, unless the call ends the conversion.
  void (*before_call)() = nullptr;
  void (*after_call)() = nullptr;
  // In the converted thread, at each request signal, unless the signal ends the conversion. `interrupted`:
  // the handler's context.
  void (*asked)(const ucontext_t& interrupted) = nullptr;
  // True if the converted thread is in an operation that it must finish. If so, whoever set this
  // hook must call leave_where_asked() (converted_thread.h) in this thread when the operation ends.
  bool (*is_busy)() = nullptr;
  // Before a converted thread waits on the futex word at `address`, or wakes its waiters.
  void (*waits_on)(uint64_t address) = nullptr;
  // Before a session begins, and after it has ended.
  void (*session)(bool begins) = nullptr;
  // Before a system call changes the contents or protection of the range. All converted threads have returned
  // by then.
  void (*memory_changes)(uint64_t low, uint64_t high) = nullptr;
  // In the caller of begin_isolation(), while all other threads are stopped in handlers: makes all memory
  // that was mapped since the last session common. Returns false if that is not possible; no session begins
  // then.
  bool (*all_stopped)() = nullptr;
  // With SessionOptions::moves_all: called in a thread that is asked to stop because a session begins.
  // Returns true to postpone the stop because the thread is in an allocator call. Whoever intercepts that
  // call must call stop_now() in this thread when it returns.
  bool (*ends_call_first)() = nullptr;
  // Maps an address in a trampoline to the original address in the program. Called when a
  // converted thread faults, for the address at which the original thread repeats the instruction.
  uint64_t (*place_in_program)(uint64_t pc) = nullptr;
  // In the thread that is about to fork, after it has ended the session: makes memory private.
  void (*before_fork)() = nullptr;
};

struct SessionOptions {
  // A real-time signal that nothing else uses and no thread blocks.
  int request_signal = 0;
  // True if hooks.all_stopped() moves the threads' stacks and everything else that threads write. No samples
  // are taken while it does.
  bool moves_all = false;
  // Signal mask. The handlers of these signals bypass dispatch (let_calls_pass()); their stack may have no
  // room for a nested handler. The request signal waits until such a handler returns.
  uint64_t sample_signals = 0;
  ConversionHooks hooks;
  ConvertedThreadSampling sampling;
};

enum class SessionStart : uint8_t {
  Done,
  AlreadyOn,
  NoDispatch,     // the kernel is older than 5.11, or refuses
  TooMany,        // too many threads, or out of memory
  Unreachable,    // a thread did not take the request signal within kStopTimeoutNs
  NotCommon,      // hooks.all_stopped() returned false
  SignalReader,   // the program uses signalfd, which reads only signals of the reader's own process
  UsesCpuTimers,  // the program uses CPU-time timers or limits (cpu_time.h)
};

// Begins a session. Async-signal-safe, except that the first call must not be made in a handler. Each thread
// is stopped for about 50 us.
SessionStart begin_isolation(const SessionOptions& options) noexcept;

// Ends the session: all threads are ordinary threads of the program's process afterwards. Returns false, and
// the session continues, if a thread does not respond within kStopTimeoutNs. Returns true if another thread
// ended it. Must not be called by a converted thread.
bool end_isolation() noexcept;

// Timeout for stopping all threads. It is needed because a stopped thread may hold a lock that another
// thread is waiting for with all signals blocked; the C library blocks them while it creates a thread. On
// timeout the caller tries again later.
constexpr uint64_t kStopTimeoutNs = 200'000'000;

enum class Phase : uint32_t { Off, Entering, On, Leaving };

struct Session {
  std::atomic<Phase> phase{Phase::Off};
  std::atomic<uint32_t> turns{0};  // number of phase changes; threads wait for the next one
  int pid = 0;
  int request_signal = 0;
  bool moves_all = false;
  uint64_t sample_signals = 0;
  ConversionHooks hooks;
  ConvertedThreadSampling sampling;
  std::atomic<uint32_t> number{0};   // session number
  std::atomic<uint32_t> arrived{0};  // counts threads that began to wait for the next phase
  // Threads that are about to enter. Their system calls may be dispatched, so the handler of SIGSYS is
  // removed only once there are none.
  std::atomic<uint32_t> entering{0};
  std::atomic<uint32_t> leaving{0};            // threads that wait for the end of Phase::Leaving
  std::atomic<uint32_t> is_changing_phase{0};  // a thread is beginning or ending a session
  std::atomic<bool> failed{false};             // a thread cannot enter
  std::atomic<uint32_t> holds{0};              // while not 0, no thread may be converted
  // Writable private memory was mapped since the session began. No thread may be converted from then on.
  std::atomic<bool> has_private_memory{false};
  std::atomic<bool> uses_cpu_timers{false};    // set once the program starts using CPU-time timers or limits
  std::atomic<uint32_t> converted_threads{0};  // including those that are being converted
  std::atomic<uint32_t> heartbeat{
      0};  // the controller's loop increments it; it rests while the process is stopped
  std::atomic<bool> ending{false};       // the process ends: deaths of converted threads are ignored
  std::atomic<uint64_t> past_cpu_ns{0};  // CPU time of converted threads that have returned
};
extern Session session;

inline bool is_session_on() noexcept {
  return session.phase.load(std::memory_order_acquire) == Phase::On;
}

struct ThreadRecord;

// True if the thread has entered the current session, or the one that is beginning, and has not left it.
// False for nullptr.
bool is_in_session(const ThreadRecord* record) noexcept;

// Must be called before the process maps writable memory that is not common. A converted thread would get a
// copy of it, so no thread may be converted from then on. The controller ends the session. That memory
// becomes common when the next session begins.
inline void note_private_memory() noexcept {
  if (session.hooks.all_stopped) session.has_private_memory.store(true);
}

// Must be called in the program's process, before the program starts to use CPU-time timers or limits. No
// thread may be converted for the rest of the session.
void note_cpu_timers() noexcept;

// Performs the stop that ConversionHooks::ends_call_first() postponed. Async-signal-safe.
void stop_now() noexcept;

// Makes the calling thread enter the session: prepares its record, and turns on the dispatch of its system
// calls. Returns false if that is not possible.
bool enter_session() noexcept;
// The same for a thread that was created during a session. Waits while the phase is neither Off nor On.
void enter_session_as_new_thread() noexcept;
// Turns the dispatch of the calling thread's system calls on or off. Returns false if that fails.
bool dispatch_calls(bool on) noexcept;
// Finds the code of this library, whose system calls are never dispatched. Must be called before the first
// dispatch, and not in a handler.
void find_own_code() noexcept;
// Lets the calling thread's system calls bypass dispatch, or stops doing so. Returns the previous setting.
// calls_pass() returns the current one.
bool let_calls_pass(bool passes) noexcept;
bool calls_pass() noexcept;

// Returns from a handler of the runtime in the program's process. An ordinary return is a system call
// (rt_sigreturn), which dispatch would intercept: the SIGSYS handler would need room on the program's
// alternate stack, for which Rust allocates only 8 KiB.
[[noreturn]] void return_from_handler(void* context) noexcept;

// Reaps the processes of converted threads that have returned. If one exited otherwise, the program
// exits with the same status; if a signal killed it, the same signal kills the program.
void reap_converted_threads() noexcept;

}  // namespace hpcrun
