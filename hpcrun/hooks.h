#pragma once
// Each waste analysis and each repair is a plug-in ("kind") with one table of callbacks, its Hooks. The
// runtime calls them at samples, breakpoints and memory records, and as threads and the process begin, fork
// and end. hpcrun/process/kinds.cpp lists all kinds, in the order in which they are called.
//
// A kind is on from switch_on() to switch_off(). The sampling hooks (the last four) are called only
// while it is on, must be async-signal-safe and must not take locks. All others are called whether it is
// on or not, and check themselves whether they have anything to do. Any hook may be nullptr.

#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "hpcrun/cct/cct.h"

namespace hpcrun {

struct ModuleInfo;   // hpcrun/unwind/modules.h
struct Stack;        // hpcrun/unwind/unwinder.h
struct ThreadState;  // hpcrun/sample/state.h

constexpr uint32_t kMaxKinds = 16;

// The number of a kind: its index in ThreadState::kinds, and its bit in HookTable::on. Set once, before
// measuring begins.
struct Kind {
  uint32_t number = 0;
};

// A sample that was recorded.
struct RecordedSample {
  const ucontext_t& context;  // where the signal interrupted the thread
  const Stack& stack;         // its call path, as recorded
  NodeId node;                // the call path's node
  uint64_t weight;            // in the event's unit: ns, or a number of events
  uint64_t now_ns;            // CLOCK_MONOTONIC
  bool is_cpu_time;           // true if the event samples CPU time
};

struct Hooks {
  Kind* kind = nullptr;

  // Called before the first call of module(), and before sample sources are chosen.
  void (*prepare)() noexcept = nullptr;
  // Called once sample sources are chosen, before the first sample.
  void (*start)() noexcept = nullptr;
  // The same in a process that the runtime was attached to, in place of prepare() and start().
  void (*start_late)() noexcept = nullptr;
  // Returns the signals that the kind raises, bit n-1 for signal n. Called after start().
  uint64_t (*signals)() noexcept = nullptr;
  // Returns additional signals that must be delivered to prof's handler even while the program is blocked in
  // sigwait() or a similar call. Called after prepare(), before the runtime chooses a signal for timers.
  uint64_t (*request_signals)() noexcept = nullptr;
  // Measuring has ended; no thread's part of the measurement file is closed yet. Called even if start() was
  // not.
  void (*finish)() noexcept = nullptr;
  // Measuring starts over in a forked child. It has copies of the parent's variables, but not the runtime's
  // mappings with MADV_DONTFORK.
  void (*fork_child)() noexcept = nullptr;

  // A load module was discovered. Also called in handlers, which discover modules too: must be
  // async-signal-safe.
  void (*module)(const ModuleInfo& module) noexcept = nullptr;
  // The process has a second thread, or is about to create one. Called again for each later thread.
  // Async-signal-safe.
  void (*second_thread)() noexcept = nullptr;
  // The calling thread begins; its ThreadState is initialized. Async-signal-safe.
  void (*thread_start)() noexcept = nullptr;
  // The calling thread is about to exit, or to stop being measured; it may still run code of the program.
  void (*thread_leaves)() noexcept = nullptr;
  // The thread's part of the measurement file is about to be closed.
  void (*thread_end)(ThreadState& thread) noexcept = nullptr;

  // The process is about to execute another program (true), or that failed (false).
  void (*exec)(bool is_about_to) noexcept = nullptr;
  // The process ends immediately, by _exit(): finish() is not called. Async-signal-safe.
  void (*sudden_end)() noexcept = nullptr;
  // The program opens a library whose calls to the allocator and to lock functions bypass the preloaded
  // libraries. Called whenever that happens, even before measuring begins and in
  // forked children that are not measured. Returns a note for the measurement file on what is lost, or
  // nullptr.
  const char* (*interposition_bypassed)() noexcept = nullptr;

  // The last four are called in handlers, while the kind is on. ThreadState::busy, which guards against
  // reentry, is set.

  // A sample was recorded.
  void (*sample)(ThreadState& thread, const RecordedSample& sample) noexcept = nullptr;
  // A breakpoint with breakpoint_signal_data() of this kind was hit.
  void (*hit)(ThreadState& thread, const ucontext_t& context, uint64_t signal_data,
              uint64_t now_ns) noexcept = nullptr;
  // The same for a signal that was blocked at the hit (Linux 5.18): the context does not show the access.
  // nullptr: hit() is called.
  void (*late_hit)(ThreadState& thread, uint64_t signal_data) noexcept = nullptr;
  // The ring of a memory event has records. A ring is read once: its records go only to the first active
  // kind that has this hook.
  void (*records)(ThreadState& thread, const ucontext_t& context, uint32_t event,
                  uint64_t now_ns) noexcept = nullptr;
};

// The kinds by number, and which are on. Rarely written. A handler reads one word if no kind is on.
struct HookTable {
  std::atomic<uint32_t> on{0};
  const Hooks* kinds[kMaxKinds] = {};
};
extern constinit HookTable hook_table;

// Gives the kinds their numbers, in this order. Must be called before measuring begins; a second call has no
// effect.
void register_kinds(const Hooks* const* kinds, uint32_t count) noexcept;

// signals_of_kinds() returns all signals of the registered kinds (Hooks::signals and Hooks::request_signals);
// request_signals_of_kinds() returns the latter.
uint64_t signals_of_kinds() noexcept;
uint64_t request_signals_of_kinds() noexcept;

// True if handlers call the kind's hooks. Async-signal-safe.
inline bool is_on(const Kind& kind) noexcept {
  return hook_table.on.load(std::memory_order_acquire) >> kind.number & 1;
}
// Makes handlers call the kind's hooks from now on, or stops doing so. After switch_off(), handlers already
// running may still be in a hook. Async-signal-safe.
inline void switch_on(const Kind& kind) noexcept {
  hook_table.on.fetch_or(uint32_t{1} << kind.number, std::memory_order_release);
}
inline void switch_off(const Kind& kind) noexcept {
  if (is_on(kind)) hook_table.on.fetch_and(~(uint32_t{1} << kind.number), std::memory_order_acq_rel);
}

// Calls use(const Hooks&) for each kind that is on, in the order of their numbers, until one returns true.
template <typename Use>
void for_each_on(Use use) noexcept {
  for (uint32_t on = hook_table.on.load(std::memory_order_acquire); on; on &= on - 1)
    if (use(*hook_table.kinds[__builtin_ctz(on)])) return;
}

// Returns perf_event_attr::sig_data of a kind's breakpoints, which their signals carry. Its low 16 bits are
// free for the caller. `base` identifies
// breakpoint signals; its bits 16 to 30 must be 0.
constexpr uint64_t breakpoint_signal_data(uint64_t base, const Kind& kind) noexcept {
  return base | uint64_t{kind.number} << 16;
}

// True if the breakpoint is one of this kind. `signal_data` must come from breakpoint_signal_data().
constexpr bool is_breakpoint_of(const Kind& kind, uint64_t signal_data) noexcept {
  return (signal_data >> 16 & 0x7fff) == kind.number;
}

// Calls that handlers make if threads may be converted into processes (repair/isolate). Only that repair sets
// them.
struct ConversionCalls {
  // Lets system calls of the calling thread bypass syscall user dispatch (PR_SET_SYSCALL_USER_DISPATCH), or
  // stops doing so. Returns the previous state.
  std::atomic<bool (*)(bool passes) noexcept> let_calls_pass{nullptr};
  // Returns from a handler of the runtime, with its context. An ordinary return is a system call
  // (rt_sigreturn), which dispatch would intercept.
  std::atomic<void (*)(void* context) noexcept> return_from_handler{nullptr};
};
extern constinit ConversionCalls conversion_calls;

// True if threads may be converted.
inline bool may_convert_threads() noexcept {
  return conversion_calls.return_from_handler.load(std::memory_order_relaxed) != nullptr;
}

}  // namespace hpcrun
