#include "hpcrun/sample/waiting.h"

#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>

#include "hpcrun/guest/clock.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/unwind/capture.h"

namespace hpcrun {

namespace {

constexpr uint64_t kAll = ~uint64_t{0};

uint64_t change_mask(int how, uint64_t set) noexcept {
  uint64_t old = 0;
  raw_syscall(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&set), reinterpret_cast<long>(&old),
              sizeof set);
  return old;
}

void store(uint64_t& cell, uint64_t value) noexcept {
  std::atomic_ref(cell).store(value, std::memory_order_relaxed);
}

ValueCell* cell_of_wait(ThreadState& thread, const FrameKey* frames, uint32_t depth) noexcept {
  const NodeId node = thread.tree.insert(frames, depth);
  if (node == kNoNode) return nullptr;
  return thread.tree.wait_cell(node, static_cast<uint16_t>(process_state.wait_event));
}

// Returns the cell in which the file records waits in the calling context. The caller must have all signals
// blocked: a handler that jumps away would leave the thread busy permanently.
[[gnu::noinline]] ValueCell* find_cell(ThreadState& thread) noexcept {
  if (thread.busy) return nullptr;
  thread.busy = 1;
  ucontext_t context;
  capture(context);
  const Stack stack = as_called(thread, thread.unwinder.walk(context));
  ValueCell* const cell = cell_of_wait(thread, stack.frames, stack.depth);
  thread.busy = 0;
  return cell;
}

// The same without a walk: the function called and its caller. The outer frames are unknown.
ValueCell* find_short_cell(ThreadState& thread, const WaitSite& site) noexcept {
  if (thread.busy) return nullptr;
  thread.busy = 1;
  const FrameKey frames[] = {frame_of(site.function),
                             frame_of(reinterpret_cast<const void*>(site.caller - 1))};
  ValueCell* const cell = frames[0] && frames[1] ? cell_of_wait(thread, frames, 2) : nullptr;
  thread.busy = 0;
  return cell;
}

// One walk per possible sample, with a reserve for a thread that just began.
constexpr uint64_t kWalksAhead = 32;

bool may_walk(ThreadState& thread, uint64_t now) noexcept {
  const uint64_t period =
      1'000'000'000u / process_state.config.events[static_cast<uint32_t>(process_state.wait_event)].rate;
  uint64_t& next = thread.next_wait_walk_ns;
  next = std::max(next, now - std::min(now, kWalksAhead * period));
  if (next > now) return false;
  next += period;
  return true;
}

// Returns the cell for a wait without a walk. The best guess is the context of the last walk for the same
// call in the same activation; otherwise a short context. nullptr: not known yet.
ValueCell* known_cell(const ThreadState& thread, const WaitSite& site) noexcept {
  if (thread.noted_caller == site.caller && thread.noted_frame == site.frame) return thread.noted_wait;
  return thread.short_caller == site.caller ? thread.short_wait : nullptr;
}

void note(OpenWait& wait, ValueCell* cell) noexcept {
  wait.noted = cell;
  if (!cell) return;
  store(cell->samples, process_state.file.pause_switch().paused_ns(wait.since_ns));
  store(cell->value, wait.since_ns);
}

void close_waits(ThreadState& thread, uint32_t outer) noexcept {
  for (uint32_t i = outer; i < thread.open_waits; ++i)
    if (thread.waits[i].noted) store(thread.waits[i].noted->value, 0);
}

}  // namespace

bool Wait::begin(const WaitSite& site) noexcept {
  signals_ = wait_signals();
  if (!signals_ || !is_sampling_here()) return false;
  thread_ = this_thread();
  if (!thread_) return false;
  ThreadState& thread = *thread_;
  // Full: exceptions thrown by handlers have left waits open.
  if (thread.open_waits >= kMaxOpenWaits) leave_waits();
  outer_ = thread.open_waits;
  // Set first: a handler of the program may wait too from now on, or jump away.
  thread.open_waits = outer_ + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  OpenWait& wait = thread.waits[outer_];
  wait = {site.function, 0, nullptr};
  if (process_state.wait_event < 0) {
    change_mask(SIG_BLOCK, signals_);
    return true;
  }
  wait.since_ns = monotonic_ns();
  const bool walks = may_walk(thread, wait.since_ns);
  ValueCell* const known = walks ? nullptr : known_cell(thread, site);
  if (known) {
    change_mask(SIG_BLOCK, signals_);
    note(wait, known);
    return true;
  }
  const uint64_t before = change_mask(SIG_BLOCK, kAll);
  if (walks) {
    thread.noted_wait = find_cell(thread);
    thread.noted_caller = site.caller;
    thread.noted_frame = site.frame;
    note(wait, thread.noted_wait);
  } else {
    thread.short_wait = find_short_cell(thread, site);
    thread.short_caller = site.caller;
    note(wait, thread.short_wait);
  }
  change_mask(SIG_SETMASK, before | signals_);
  return true;
}

void Wait::end() noexcept {
  const bool attached = thread_ == this_thread();  // false if the runtime has detached from the thread
  if (attached) close_waits(*thread_, outer_);
  change_mask(SIG_UNBLOCK, signals_);  // pending signals are delivered now
  if (attached) thread_->open_waits = outer_;
}

void leave_waits() noexcept {
  const uint64_t signals = wait_signals();
  if (!signals || !is_sampling_here() || !this_thread()) return;
  ThreadState& thread = *this_thread();
  if (!thread.open_waits) return;
  close_waits(thread, 0);
  change_mask(SIG_UNBLOCK, signals);
  thread.open_waits = 0;
}

namespace {

// The call itself has frames of the C library and ours; a handler of the program may have many.
constexpr uint32_t kSearched = 256;

constexpr uint16_t kNoModule = kModuleDevice;  // no code has this module

// Removes the frames of two modules from the frames [0, end), keeping the end in place. Returns the number
// removed.
uint32_t leave_out(FrameKey* frames, uint32_t end, uint16_t one, uint16_t other) noexcept {
  uint32_t to = end;
  for (uint32_t from = end; from-- > 0;)
    if (const uint16_t module = frame_module(frames[from]); module != one && module != other)
      frames[--to] = frames[from];
  return to;
}

// Returns the module of the library that interposes on locks.
uint16_t sync_module() noexcept {
  const void* const code = process_state.sync_code.load(std::memory_order_acquire);
  if (!code) return kNoModule;
  static std::atomic<uint16_t> known{kModuleNone};
  uint16_t module = known.load(std::memory_order_relaxed);
  if (module == kModuleNone) known.store(module = frame_module(frame_of(code)), std::memory_order_relaxed);
  return module == kModuleNone ? kNoModule : module;
}

Stack without_sync(Stack stack) noexcept {
  const uint16_t sync = sync_module();
  if (sync == kNoModule) return stack;
  const uint32_t first = leave_out(stack.frames, std::min(stack.depth, kSearched), sync, kNoModule);
  return {stack.frames + first, stack.depth - first, stack.reason};
}

}  // namespace

Stack as_called(const ThreadState& thread, Stack stack) noexcept {
  if (!thread.open_waits && !thread.device_function) return without_sync(stack);
  const uint16_t own = frame_module(frame_of(reinterpret_cast<const void*>(&as_called)));
  if (own == kModuleNone || !stack.depth) return stack;
  const bool in_ours = frame_module(stack.frames[0]) == own;
  const void* const called =
      thread.open_waits ? thread.waits[thread.open_waits - 1].function : thread.device_function;
  uint32_t first = leave_out(stack.frames, std::min(stack.depth, kSearched), own, sync_module());
  if (in_ours) {
    const FrameKey function = frame_of(called);
    // A loader that forwards calls to us has a frame of its own.
    const bool is_there = first < stack.depth && thread.device_function &&
                          frame_module(stack.frames[first]) == frame_module(function);
    if (function && !is_there && first > 0) stack.frames[--first] = function;
  }
  return {stack.frames + first, stack.depth - first, stack.reason};
}

}  // namespace hpcrun
