#include "hpcrun/sync/observer.h"

#include <algorithm>

#include "hpcrun/contention/observer.h"
#include "hpcrun/guest/clock.h"
#include "hpcrun/heap/heap.h"
#include "hpcrun/measurement/lock_metrics.h"
#include "hpcrun/sample/process_mark.h"
#include "hpcrun/sample/signals_blocked.h"
#include "hpcrun/sync/interface.h"
#include "hpcrun/sync/lock_holders.h"
#include "hpcrun/sync/lock_table.h"
#include "hpcrun/sync/thread.h"
#include "hpcrun/unwind/capture.h"

namespace hpcrun {

namespace {

// Maximum number of frames between the program's and ours: of the interposing library, and of the runtime if
// it interposes on that.
constexpr uint32_t kMaxFramesInside = 16;
constexpr uint32_t kSearched = 256;  // frames searched for ours further out

constinit LockTable table;
constinit LockHolders holders;
// Waits that a fork interrupted end in a child that has no record of them.
std::atomic<uint32_t> generation{0};
std::atomic<bool> is_followed{false};

// Returns the time, without pauses of measuring.
uint64_t measured_ns() noexcept {
  const uint64_t now = monotonic_ns();
  return now - process_state.file.pause_switch().paused_ns(now);
}

bool is_measured() noexcept {
  return is_followed.load(std::memory_order_relaxed) && is_sampling_this_copy();
}

uint16_t module_of(const void* code) noexcept {
  return frame_module(frame_of(code));
}

bool is_inside(FrameKey frame, const void* caller) noexcept {
  const uint16_t module = frame_module(frame);
  return module != kModuleNone && (module == module_of(reinterpret_cast<const void*>(&set_lock_repair)) ||
                                   module == module_of(caller));
}

// Returns the path as if the program had called the function itself: without our frames. OpenMP's threads
// have some of these further out as well, where they run their parts of a region.
Stack path_of_call(const Stack& stack, const void* function, const void* caller) noexcept {
  uint32_t first = 0;
  while (first < std::min(stack.depth, kMaxFramesInside) && is_inside(stack.frames[first], caller)) ++first;
  const uint16_t ours = module_of(caller);
  uint32_t to = std::min(stack.depth, kSearched);
  for (uint32_t from = to; from-- > first;)
    if (ours == kModuleNone || frame_module(stack.frames[from]) != ours)
      stack.frames[--to] = stack.frames[from];
  const FrameKey called = function ? frame_of(function) : FrameKey{0};
  if (called && to > 0) stack.frames[--to] = called;
  return {stack.frames + to, stack.depth - to, stack.reason};
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

// Returns the node of the calling code. A thread is busy if a handler of the program interrupted us.
[[gnu::noinline]] NodeId node_here(ThreadState& thread, const void* function, const void* caller) noexcept {
  if (thread.busy) return kNoNode;
  ucontext_t here;
  capture(here);
  if (SyncThread* const sync = sync_slot.of(thread)) {
    const greg_t* const registers = here.uc_mcontext.gregs;
    const uint32_t number = sync->stacks.find(
        {static_cast<uint64_t>(registers[REG_RIP]), static_cast<uint64_t>(registers[REG_RSP]),
         static_cast<uint64_t>(registers[REG_RBP])},
        function);
    if (number != KnownStacks::kNone) return sync->nodes[number];
  }
  return walk(thread, here, function, caller);
}

// Records the allocation that contains a lock, if the program's allocations are followed.
void tell_allocation(const LockSite& site) noexcept {
  if (site.role == LockRole::Wait && is_held(site.kind) && searches_contention()) object_at(site.object);
}

// Returns the calling thread's cell, or nullptr if there is no room.
LockCell* cell_at(ThreadState& thread, const LockSite& site) noexcept {
  if (thread.busy) return nullptr;
  if (SyncThread* const sync = sync_slot.of(thread))
    if (LockCell* const known = sync->cells.find(site)) return known;
  const SignalsBlocked blocked;
  const ThreadBusy busy(thread);
  SyncThread* const sync = sync_of(thread);
  LockCell* const made = sync ? sync->cells.make(site) : nullptr;
  if (made) tell_allocation(site);
  return made;
}

void charge(ThreadState& thread, const LockSite& site, uint64_t ns) noexcept {
  if (LockCell* const cell = cell_at(thread, site)) LockCells::add(*cell, ns);
}

uint64_t address_of(const void* object) noexcept {
  return reinterpret_cast<uint64_t>(object);
}

// Records the holder of a lock, as the calling thread found it.
void tell_holder(ThreadState& thread, const void* lock, LockKind kind, int holder) noexcept {
  const LockSite site{address_of(lock), thread.index, kRootNode, kind, LockRole::Held};
  if (LockCell* const cell = cell_at(thread, site))
    LockCells::set(*cell, 1, measured_ns(), static_cast<uint64_t>(holder));
}

void enter(SyncThread& sync, Activity to) noexcept {
  activities.change(sync.activity, to);
  sync.activity = to;
}

void close(SyncThread& sync, LockCell* open) noexcept {
  if (open) LockCells::set(*open, 0, 0, 0);
  if (sync.open == open) sync.open = nullptr;
}

// Closes a wait that was left by a jump. It was deeper in the stack than one that begins now.
void close_left(SyncThread& sync, const LockWait& wait) noexcept {
  if (sync.activity == Activity::Works || sync.innermost >= &wait) return;
  close(sync, sync.open);
  enter(sync, Activity::Works);
}

// Records the wait in the file, in case the process ends in it.
void open(ThreadState& thread, LockWait& wait) noexcept {
  SyncThread* const sync = sync_slot.of(thread);
  if (!sync || wait.node == kNoNode) return;
  close_left(*sync, wait);
  wait.before = static_cast<uint8_t>(sync->activity);
  enter(*sync, activity_in(wait.kind, wait.in_team));
  int holder = 0;
  if (is_held(wait.kind)) {
    wait.slot = holders.begin(thread.tid, wait.object, wait.kind);
    holder = holder_of(wait.object, wait.kind, true);
    holders.if_circle(thread.tid, wait.object, wait.kind, [&](const void* lock, LockKind kind, int has_it) {
      tell_holder(thread, lock, kind, has_it);
    });
  }
  LockCell* const cell = cell_at(thread, {0, thread.index, wait.node, wait.kind, LockRole::Open});
  if (cell) LockCells::set(*cell, address_of(wait.object), wait.since_ns, static_cast<uint64_t>(holder));
  wait.open = sync->open = cell;
  sync->innermost = &wait;
}

void close(ThreadState& thread, const LockWait& wait) noexcept {
  SyncThread* const sync = sync_slot.of(thread);
  if (!sync || wait.node == kNoNode) return;
  close(*sync, static_cast<LockCell*>(wait.open));
  enter(*sync, static_cast<Activity>(wait.before));
}

void begin(LockWait& wait, const void* caller) noexcept {
  wait.is_open = false;
  if (!is_measured() || (wait.in_team && activities.has_tasks())) return;
  wait.is_open = true;
  wait.generation = generation.load(std::memory_order_relaxed);
  wait.since_ns = measured_ns();
  wait.slot = LockHolders::kNoSlot;
  wait.open = nullptr;
  if (is_held(wait.kind)) {
    table.waiting()[lock_place(wait.object)].fetch_add(1, std::memory_order_seq_cst);
    WaitedLock* const lock = table.find_or_add(wait.object);
    if (lock) lock->begin_wait(wait.since_ns);
    wait.lock = lock;
  }
  ThreadState* const thread = this_thread();
  wait.thread = thread;
  wait.node = thread ? node_here(*thread, wait.function, caller) : kNoNode;
  if (thread) open(*thread, wait);
}

// Charges the wait since the lock was released to the thread that had held it until then.
void charge_last_holder(ThreadState* thread, const LockWait& wait, WaitedLock& lock, uint64_t now) noexcept {
  const uint64_t ns = lock.take(now);
  const LockHolder holder = lock.last_holder(wait.since_ns);
  if (!thread || ns == 0 || holder.thread == LockHolder::kUnknown) return;
  charge(*thread, {address_of(wait.object), holder.thread, holder.node, wait.kind, LockRole::Blame}, ns);
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
    holders.end(wait.slot);
    table.waiting()[lock_place(wait.object)].fetch_sub(1, std::memory_order_relaxed);
  }
  if (thread) close(*thread, wait);
  if (wait.in_team && activities.has_tasks()) counts = false;
  if (!thread || !counts || wait.node == kNoNode) return;
  charge(*thread, {address_of(wait.object), thread->index, wait.node, wait.kind, LockRole::Wait},
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
  charge(*thread, {address_of(object), thread->index, node, kind, LockRole::Blame}, ns);
}

void begin_tasks() noexcept {
  if (!is_measured() || activities.has_tasks()) return;
  activities.begin_tasks();
  process_state.file.counter(Counter::FollowsLocks).store(kFollowsLocksWithTasks, std::memory_order_relaxed);
  process_state.file.write_note(
      "OpenMP's barriers run tasks: from the first task on, waiting at barriers was not measured.");
}

// Ends the wait of a thread of an OpenMP team that ends while it waits for more work. The thread must be
// busy.
void end_with_thread(const ThreadState& thread, SyncThread& sync) noexcept {
  const LockCell open = *sync.open;
  close(sync, sync.open);
  if (!open.total_ns || (activities.has_tasks() && sync.activity == Activity::IdlesInTeam)) return;
  const LockSite site{open.waits, thread.index, open.node, open.kind, LockRole::Wait};
  LockCell* cell = sync.cells.find(site);
  if (!cell) cell = sync.cells.make(site);
  const uint64_t now = measured_ns();
  if (cell) LockCells::add(*cell, now - std::min(now, open.total_ns));
}

const SyncInterface kInterface{table.waiting(), begin, end, release, begin_tasks};

// Registered by the interposing library, which is loaded before the runtime starts.
std::atomic<SyncSwitches*> switches{nullptr};

std::atomic<const LockRepair*> lock_repair{nullptr};

// Set as sessions of isolation begin, which must know all direct calls of the library.
std::atomic<bool> are_calls_taken{false};

void start_following() noexcept {
  if (!process_state.config.locks || !table.attach()) return;
  mark_process();
  announce(kLockMetrics, process_state.file);
  process_state.file.counter(Counter::FollowsLocks).store(kFollowsLocks, std::memory_order_relaxed);
  is_followed.store(true, std::memory_order_release);
  switch_on(sync_slot);
}

// Sets the library's switches for what is being measured.
void set_switches() noexcept {
  SyncSwitches* const library = switches.load(std::memory_order_acquire);
  if (!library) return;
  if (is_followed.load(std::memory_order_acquire)) {
    library->followed.store(&kInterface, std::memory_order_release);
    library->set_detour(kFollowed, true);
  }
  library->repair.store(lock_repair.load(std::memory_order_acquire), std::memory_order_release);
}

void forbid_direct_calls(bool is_forbidden) noexcept {
  if (SyncSwitches* const library = switches.load(std::memory_order_acquire))
    library->set_detour(kInSession, is_forbidden);
}

void start() noexcept {
  start_following();
  set_switches();
}

void tell_holders() noexcept {
  ThreadState* const thread = this_thread();
  if (!thread || !is_followed.load(std::memory_order_relaxed)) return;
  holders.for_each(
      [=](const void* lock, LockKind kind, int holder) { tell_holder(*thread, lock, kind, holder); });
}

void finish() noexcept {
  tell_holders();
  switch_off(sync_slot);
  if (!is_followed.exchange(false) || !table.was_full()) return;
  process_state.file.write_note(
      "Threads waited for more locks than prof can follow; the holders of some are not known.");
}

void end_thread(ThreadState& thread) noexcept {
  SyncThread* const sync = sync_slot.of(thread);
  activities.end_thread(sync ? sync->activity : Activity::Works);
  if (!sync) return;
  if (sync->open) end_with_thread(thread, *sync);
  sync->cells.seal();
  sync_slot.set(thread, nullptr);
}

void reset_after_fork() noexcept {
  forbid_direct_calls(false);  // belonged to the parent's session
  is_followed.store(false, std::memory_order_relaxed);
  switch_off(sync_slot);
  generation.fetch_add(1, std::memory_order_relaxed);
  table.reset_after_fork();
  holders.reset_after_fork();
  activities.reset_after_fork();
}

}  // namespace

void set_lock_repair(const LockRepair* repair) noexcept {
  lock_repair.store(repair, std::memory_order_release);
  set_switches();
}

DirectLockCalls take_direct_lock_calls() noexcept {
  are_calls_taken.store(true, std::memory_order_release);
  SyncSwitches* const library = switches.load(std::memory_order_acquire);
  if (!library) return {};
  return {forbid_direct_calls, library->direct_calls};
}

constexpr Hooks kSyncHooks{.kind = &sync_slot,
                           .start = start,
                           .finish = finish,
                           .fork_child = reset_after_fork,
                           .thread_end = end_thread,
                           .sudden_end = tell_holders,
                           .sample = observe_work};

}  // namespace hpcrun

__attribute__((visibility("default"))) void hpcrun_sync_attach(const void* code,
                                                               hpcrun::SyncSwitches* library) noexcept {
  hpcrun::process_state.sync_code.store(code, std::memory_order_release);
  hpcrun::switches.store(library, std::memory_order_release);
  if (hpcrun::are_calls_taken.load(std::memory_order_acquire)) library->set_detour(hpcrun::kUnheard, true);
  hpcrun::set_switches();
}
