#include "hpcrun/sync/observer.h"

#include <algorithm>

#include "hpcrun/cct/lock_cells.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/measurement/lock_metrics.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/signals_blocked.h"
#include "hpcrun/sync/interface.h"
#include "hpcrun/sync/lock_table.h"
#include "hpcrun/unwind/capture.h"
#include "hpcrun/unwind/known_stacks.h"

namespace hpcrun {

// Zeroed memory is a valid empty one but for the cells.
struct SyncThread {
  LockCells cells;
  KnownStacks stacks;
  NodeId nodes[KnownStacks::kEntries];
};

namespace {

// Frames between the program's and ours: of the library in front of the locks, and of the runtime where it
// stands in front of that.
constexpr uint32_t kMostFramesInside = 16;

constinit LockTable table;
// Waits that a fork interrupted end in a child that knows nothing of them.
std::atomic<uint32_t> generation{0};
std::atomic<bool> is_on{false};

// Stands still while measuring is paused.
uint64_t measured_ns() noexcept {
  const uint64_t now = monotonic_ns();
  return now - process_state.file.pause_switch().paused_ns(now);
}

bool is_measured() noexcept {
  return is_on.load(std::memory_order_relaxed) && is_sampling_this_copy();
}

uint16_t module_of(const void* code) noexcept {
  return frame_module(frame_of(code));
}

bool is_inside(FrameKey frame, const void* caller) noexcept {
  const uint16_t module = frame_module(frame);
  return module != kModuleNone &&
         (module == module_of(reinterpret_cast<const void*>(&start_sync)) || module == module_of(caller));
}

// The path as if the program had called the C library's function itself.
Stack path_of_call(const Stack& stack, const void* function, const void* caller) noexcept {
  uint32_t first = 0;
  while (first < std::min(stack.depth, kMostFramesInside) && is_inside(stack.frames[first], caller)) ++first;
  const FrameKey called = function ? frame_of(function) : FrameKey{0};
  if (called && first > 0) stack.frames[--first] = called;
  return {stack.frames + first, stack.depth - first, stack.reason};
}

// The thread is undisturbed.
SyncThread* sync_of(ThreadState& thread) noexcept {
  if (thread.sync) return thread.sync;
  auto* const made = static_cast<SyncThread*>(thread.arena.allocate(sizeof(SyncThread)));
  if (!made || !made->cells.attach(process_state.file, thread.arena, thread.index)) return nullptr;
  return thread.sync = made;
}

NodeId walk(ThreadState& thread, const ucontext_t& here, const void* function, const void* caller) noexcept {
  const SignalsBlocked blocked;
  const ThreadBusy busy(thread);
  SyncThread* const sync = sync_of(thread);
  if (!sync) return kNoNode;
  const Stack stack = path_of_call(thread.unwinder.walk(here, sync->stacks.record), function, caller);
  const NodeId node = thread.tree.insert(stack.frames, stack.depth);
  if (node == kNoNode) return kNoNode;
  if (const uint32_t number = sync->stacks.add(thread.arena, function); number != KnownStacks::kNone)
    sync->nodes[number] = node;
  return node;
}

// Of the place that this is called from. A busy thread is one in which a handler of the program's interrupted
// us.
[[gnu::noinline]] NodeId node_here(ThreadState& thread, const void* function, const void* caller) noexcept {
  if (thread.busy) return kNoNode;
  ucontext_t here;
  capture(here);
  if (thread.sync) {
    const greg_t* const registers = here.uc_mcontext.gregs;
    const uint32_t number = thread.sync->stacks.find(
        {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
         static_cast<uint64_t>(registers[REG_RBP])},
        function);
    if (number != KnownStacks::kNone) return thread.sync->nodes[number];
  }
  return walk(thread, here, function, caller);
}

void charge(ThreadState& thread, const LockSite& site, uint64_t ns) noexcept {
  if (thread.busy) return;
  LockCell* cell = thread.sync ? thread.sync->cells.find(site) : nullptr;
  if (!cell) {
    const SignalsBlocked blocked;
    const ThreadBusy busy(thread);
    SyncThread* const sync = sync_of(thread);
    cell = sync ? sync->cells.make(site) : nullptr;
  }
  if (cell) LockCells::add(*cell, ns);
}

uint64_t address_of(const void* object) noexcept {
  return reinterpret_cast<uint64_t>(object);
}

void begin(LockWait& wait, const void* caller) noexcept {
  wait.is_open = false;
  if (!is_measured()) return;
  wait.is_open = true;
  wait.generation = generation.load(std::memory_order_relaxed);
  wait.since_ns = measured_ns();
  if (is_held(wait.kind)) {
    table.waiting()[lock_place(wait.object)].fetch_add(1, std::memory_order_seq_cst);
    WaitedLock* const lock = table.find_or_add(wait.object);
    if (lock) lock->begin_wait(wait.since_ns);
    wait.lock = lock;
  }
  ThreadState* const thread = this_thread();
  wait.thread = thread;
  wait.node = thread ? node_here(*thread, wait.function, caller) : kNoNode;
}

// What was waited since the lock was released is due to who had kept it until then.
void charge_last_holder(ThreadState* thread, const LockWait& wait, WaitedLock& lock, uint64_t now) noexcept {
  const uint64_t ns = lock.take(now);
  const LockHolder holder = lock.last_holder(wait.since_ns);
  if (!thread || ns == 0 || holder.thread == LockHolder::kUnknown) return;
  charge(*thread, {address_of(wait.object), holder.thread, holder.node, wait.kind, true}, ns);
}

void end(LockWait& wait, bool has_it, bool counts) noexcept {
  if (!wait.is_open || wait.generation != generation.load(std::memory_order_relaxed) || !is_measured())
    return;
  wait.is_open = false;
  const uint64_t now = measured_ns();
  ThreadState* const thread = this_thread() == wait.thread ? this_thread() : nullptr;
  if (is_held(wait.kind)) {
    auto* const lock = static_cast<WaitedLock*>(wait.lock);
    if (lock && has_it) charge_last_holder(thread, wait, *lock, now);
    if (lock) lock->end_wait(now);
    table.waiting()[lock_place(wait.object)].fetch_sub(1, std::memory_order_relaxed);
  }
  if (!thread || !counts || wait.node == kNoNode) return;
  charge(*thread, {address_of(wait.object), thread->index, wait.node, wait.kind, false},
         now - std::min(now, wait.since_ns));
}

void release(const void* object, LockKind kind, const void* function, const void* caller) noexcept {
  if (!is_measured()) return;
  WaitedLock* const lock = table.find(object);
  if (!lock || !lock->is_waited_for()) return;
  ThreadState* const thread = this_thread();
  const NodeId node = thread ? node_here(*thread, function, caller) : kNoNode;
  if (node == kNoNode) return;
  const uint64_t now = measured_ns();
  const uint64_t ns = lock->take(now);
  lock->set_last_holder({thread->index, node}, now);
  charge(*thread, {address_of(object), thread->index, node, kind, true}, ns);
}

const SyncInterface kInterface{table.waiting(), begin, end, release};

}  // namespace

void start_sync() noexcept {
  if (!process_state.config.locks || !table.attach()) return;
  mark_process();
  for (const LockMetricInfo& metric : kLockMetrics) {
    MetricInfo info{};
    info.id = static_cast<uint16_t>(metric.id);
    info.name = metric.name;
    info.unit = "sec";
    info.scale = 1e-9;
    info.source = metric.description;
    info.note = "";
    process_state.file.write_metric(info);
  }
  process_state.file.counter(Counter::FollowsLocks).store(1, std::memory_order_relaxed);
  is_on.store(true, std::memory_order_release);
}

void finish_sync() noexcept {
  if (!is_on.exchange(false) || !table.was_full()) return;
  process_state.file.write_note(
      "Threads waited for more locks than prof can follow; of some it is not known who held them.");
}

void end_sync_thread(ThreadState& thread) noexcept {
  if (!thread.sync) return;
  thread.sync->cells.seal();
  thread.sync = nullptr;
}

void forget_sync() noexcept {
  is_on.store(false, std::memory_order_relaxed);
  generation.fetch_add(1, std::memory_order_relaxed);
  table.forget();
}

}  // namespace hpcrun

__attribute__((visibility("default"))) const hpcrun::SyncInterface* hpcrun_sync_interface(
    const void* code) noexcept {
  hpcrun::process_state.sync_code.store(code, std::memory_order_release);
  return &hpcrun::kInterface;
}
