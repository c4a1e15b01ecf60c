#include "hpcrun/memory_waste/waste_thread.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "hpcrun/contention/interrupted.h"
#include "hpcrun/contention/profiler_data.h"
#include "hpcrun/memory_waste/hit_access.h"
#include "hpcrun/memory_waste/next_access.h"
#include "hpcrun/model/followed_registers.h"
#include "hpcrun/unwind/modules.h"

namespace hpcrun {

namespace {

constexpr uint8_t kMaxHits = 16;  // 20 us each; a watch with more is given up
constexpr uint64_t kLowestAddress = 65536;
constexpr uint64_t kHighestAddress = uint64_t{1} << 47;
constexpr uint64_t kRedZoneBytes = 128;  // below the stack pointer, used by leaf functions
constexpr MemoryReader kMemory{read_program_memory, nullptr};
constexpr uint64_t kWatchBits = 2;

static_assert(kBreakpoints == 1 << kWatchBits);

uint64_t pc_of(const ucontext_t& context) noexcept {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
}

uint64_t stack_pointer_of(const ucontext_t& context) noexcept {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RSP]);
}

bool is_in(const StackBounds& stack, uint64_t address) noexcept {
  return address >= stack.low && address < stack.high;
}

AccessKind wanted_by(WasteKind kind) noexcept {
  return kind == WasteKind::RedundantLoad ? AccessKind::Read : AccessKind::Write;
}

// A silent store is decided by stores alone.
Breakpoint::On accesses_for(WasteKind kind) noexcept {
  return kind == WasteKind::SilentStore ? Breakpoint::On::Stores : Breakpoint::On::AllAccesses;
}

// Chooses one of the kinds that are searched for: bit n for WasteKind n.
WasteKind choose_kind(uint64_t kinds, uint64_t random) noexcept {
  uint64_t left = kinds;
  for (uint64_t skipped = random % static_cast<uint64_t>(std::popcount(kinds)); skipped; --skipped)
    left &= left - 1;
  return static_cast<WasteKind>(std::countr_zero(left));
}

FrameKey frame_at(uint64_t instruction) noexcept {
  const FrameKey frame = frame_of(reinterpret_cast<const void*>(instruction));
  return frame ? frame : make_frame(kModuleNone, instruction);
}

// Returns the context of an instruction of the function that the thread stopped in, or of its caller.
NodeId node_of(ThreadState& thread, const ucontext_t& context, uint64_t instruction,
               bool is_of_caller) noexcept {
  const Stack stack = thread.unwinder.walk(context);
  const uint32_t left_out = is_of_caller && stack.depth > 1 ? 1 : 0;
  if (stack.depth == 0) return kNoNode;
  stack.frames[left_out] = frame_at(instruction);
  return thread.tree.insert(stack.frames + left_out, stack.depth - left_out);
}

// Returns how many bytes a sampled access stands for. A repeated string instruction accesses memory in
// chunks, as fast as other instructions access their few bytes.
uint16_t represented_by(const Access& access, const ucontext_t& context) noexcept {
  if (access.distance != 0 || !is_repeated(access.instruction, kMemory)) return access.bytes;
  const auto left = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RCX]);
  const uint64_t elements = std::clamp<uint64_t>(left, 1, kStringChunk / access.bytes);
  return static_cast<uint16_t>(elements * access.bytes);
}

bool is_watchable(const Access& access) noexcept {
  return access.bytes && access.address >= kLowestAddress && access.address < kHighestAddress &&
         !is_profiler_data(access.address);
}

uint64_t begin_of(void* thread, uint64_t address) noexcept {
  return static_cast<ThreadState*>(thread)->unwinder.instruction_before(address);
}

}  // namespace

uint64_t WasteThread::random() noexcept {
  random_ = mix64(random_ + 0x9e3779b97f4a7c15);
  return random_;
}

// Drops the plans after code was unloaded: other code may have its addresses.
void WasteThread::refresh_plans() noexcept {
  if (walk_generation_ == walk_generation()) return;
  walk_generation_ = walk_generation();
  memset(static_cast<void*>(&plans_), 0, sizeof plans_);
}

Watch* WasteThread::watch_of(uint64_t signal_data) noexcept {
  Watch& watch = watches_[signal_data % kBreakpoints];
  const bool is_current = watch.generation == static_cast<uint8_t>(signal_data >> kWatchBits);
  const bool waits = watch.state == Watch::State::Expected || watch.state == Watch::State::Watched;
  return is_current && waits ? &watch : nullptr;
}

int WasteThread::sample(ThreadState& thread, const RecordedSample& sample, uint64_t kinds,
                        uint64_t signal_data) noexcept {
  refresh_plans();
  if (!random_) random_ = sample.now_ns ^ static_cast<uint64_t>(thread.tid) << 32;
  settle(thread, sample.context, sample.now_ns);
  if (is_profiler_data(pc_of(sample.context))) return 0;
  return watch_next(thread, sample, choose_kind(kinds, random()), signal_data);
}

// Ends the watches that a sample can end.
void WasteThread::settle(ThreadState& thread, const ucontext_t& context, uint64_t now_ns) noexcept {
  for (Watch& watch : watches_) {
    if (watch.state == Watch::State::Expected) {
      release(watch);  // the thread went another way
    } else if (watch.state == Watch::State::Decided) {
      if (now_ns - watch.decided_ns >= kOthersKnownAfterNs) finish(thread, watch, now_ns);
    } else if (watch.state == Watch::State::Watched && ends_with_frame(thread, context, watch)) {
      finish(thread, watch, now_ns);
    }
  }
}

// A frame has ended if its bytes are below the stack pointer of the same stack. Nobody has loaded those that
// are left, and they no longer mean anything. Signal frames are put there.
bool WasteThread::ends_with_frame(ThreadState& thread, const ucontext_t& context, Watch& watch) noexcept {
  const StackBounds stack = thread.unwinder.stack();
  const uint64_t pointer = stack_pointer_of(context);
  const uint64_t end = watch.bytes.address + watch.bytes.count;
  if (!is_in(stack, pointer) || !is_in(stack, watch.bytes.address) || end > pointer - kRedZoneBytes)
    return false;
  if (watch.bytes.kind == WasteKind::DeadStore)
    watch.add({.second = watch.first, .bytes = watch.bytes.left, .is_wasted = true, .is_frame_end = true});
  if (watch.bytes.kind == WasteKind::DeadStore) watch.bytes.left = 0;
  return true;
}

// True if another breakpoint covers a part of the range. One access would hit both, and of two SIGTRAPs that
// are raised at the same time one is lost.
bool WasteThread::is_watched(BreakpointRange range) const noexcept {
  for (const Watch& watch : watches_) {
    const BreakpointRange other = range_of(watch.bytes);
    if (watch.is_used() && range.address < other.address + other.length &&
        other.address < range.address + range.length)
      return true;
  }
  return false;
}

int WasteThread::watch_next(ThreadState& thread, const RecordedSample& sample, WasteKind kind,
                            uint64_t signal_data) noexcept {
  const uint64_t pc = pc_of(sample.context);
  const AccessPlan& plan =
      plans_.plan(thread.unwinder.instruction_before(pc), pc, kMemory, PlanFor::EveryAccess);
  const NextAccess next = next_access(plan, machine_state_of(sample.context), wanted_by(kind), kMemory);
  if (next.found == NextAccess::Found::None) return 0;
  if (next.found == NextAccess::Found::Unplaced) {
    const NodeId node = thread.tree.sibling(sample.node, frame_at(next.access.instruction));
    if (node != kNoNode) record_undecided(cells_, thread.index, kind, node, next.access.bytes);
    return 0;
  }
  if (!is_watchable(next.access)) return 0;
  WatchedBytes piece = choose_piece(kind, next.access.address, next.access.bytes, random());
  piece.access_bytes = represented_by(next.access, sample.context);
  if (is_watched(range_of(piece))) {
    const NodeId node = thread.tree.sibling(sample.node, frame_at(next.access.instruction));
    if (node != kNoNode) record_undecided(cells_, thread.index, kind, node, next.access.bytes);
    return 0;
  }
  uint32_t used = 0;
  for (uint32_t i = 0; i < kBreakpoints; ++i) used |= static_cast<uint32_t>(watches_[i].is_used()) << i;
  const uint32_t number = reservoir_.take(used, random());
  if (number == Reservoir::kNone) return 0;
  Watch& watch = watches_[number];
  replace(thread, watch, sample.now_ns);
  watch.bytes = piece;
  watch.instruction = next.access.instruction;
  ++watch.generation;
  watch.hits = watch.outcome_count = 0;
  watch.state = Watch::State::Expected;
  const int failure = watch.breakpoint.arm(range_of(watch.bytes), accesses_for(kind),
                                           signal_data | uint64_t{watch.generation} << kWatchBits | number);
  if (failure) watch.state = Watch::State::Free;
  return failure;
}

void WasteThread::hit(ThreadState& thread, const ucontext_t& context, uint64_t signal_data,
                      uint64_t now_ns) noexcept {
  Watch* const watch = watch_of(signal_data);
  if (!watch || is_profiler_data(pc_of(context))) return;
  refresh_plans();
  uint8_t now[kMaxWatchedBytes] = {};
  if (++watch->hits > kMaxHits || !safe_read(watch->bytes.address, now, watch->bytes.count)) {
    if (watch->state == Watch::State::Watched) return finish(thread, *watch, now_ns);
    return release(*watch);
  }
  const MachineState state = machine_state_of(context);
  const uint64_t pc = pc_of(context);
  const HitAt at{state, pc, thread.unwinder.instruction_before(pc), kMemory, now};
  if (watch->state == Watch::State::Expected) return own_hit(thread, context, *watch, at);
  decide_by(thread, context, *watch, at, now_ns);
}

// The sampled access is executed. Other instructions may use the bytes before it.
void WasteThread::own_hit(ThreadState& thread, const ucontext_t& context, Watch& watch,
                          const HitAt& at) noexcept {
  if (!is_after(watch.instruction, at)) return;
  Instruction sampled;
  if (!decode_at(watch.instruction, kMemory, sampled)) return release(watch);
  const bool is_call = sampled.flow == Instruction::Flow::Call;
  uint64_t instruction = watch.instruction;
  if (sampled.flow == Instruction::Flow::End) {  // as HitAccess::instruction
    const uint64_t call = plans_.plan(at.begin, at.pc, kMemory, PlanFor::EveryAccess).preceding;
    if (!call) return release(watch);
    instruction = call;
  }
  watch.first = node_of(thread, context, instruction, is_call);
  if (watch.first == kNoNode) return release(watch);
  memcpy(watch.bytes.value, at.now, sizeof watch.bytes.value);
  watch.began = is_alone() ? OthersTime{} : others_time();
  watch.hits = 0;
  watch.state = Watch::State::Watched;
}

void WasteThread::decide_by(ThreadState& thread, const ucontext_t& context, Watch& watch, const HitAt& at,
                            uint64_t now_ns) noexcept {
  const HitAccess access = hit_access(watch.bytes, at, plans_, begin_of, &thread);
  const Decision decision = decide(watch.bytes, access.touch, access.touched, at.now);
  if (decision.is_lost) return finish(thread, watch, now_ns);
  if (!decision.wasted && !decision.used) return;
  const bool is_store_after_load =
      watch.bytes.kind == WasteKind::RedundantLoad && access.touch == Touch::Store;
  const bool needs_second =
      decision.wasted || (watch.bytes.kind != WasteKind::DeadStore && !is_store_after_load);
  const NodeId second = needs_second ? node_of(thread, context, access.instruction, access.is_call) : kNoNode;
  watch.add({.second = second, .bytes = decision.wasted, .is_wasted = true});
  watch.add({.second = second, .bytes = decision.used});
  if (!watch.bytes.left) finish(thread, watch, now_ns);
}

bool WasteThread::is_certain(ThreadState& thread, const Watch& watch, uint64_t now_ns) noexcept {
  if (is_in(thread.unwinder.stack(), watch.bytes.address)) return true;
  if (!is_alone() && (this_thread() != &thread || may_have_run(watch.began, others_time()))) return false;
  return private_memory_.contains(watch.bytes.address, now_ns);
}

// Records a watch that has ended, as soon as it is known whether other threads may have used the bytes.
void WasteThread::finish(ThreadState& thread, Watch& watch, uint64_t now_ns) noexcept {
  const bool is_shared = !is_alone() && !is_in(thread.unwinder.stack(), watch.bytes.address);
  if (watch.state == Watch::State::Watched && watch.outcome_count && is_shared) {
    watch.breakpoint.disarm();
    watch.decided_ns = now_ns;
    watch.state = Watch::State::Decided;
    return;
  }
  if (watch.state != Watch::State::Expected)
    record_watch(cells_, thread.index, watch, watch.outcome_count && is_certain(thread, watch, now_ns));
  release(watch);
}

// Records a watch whose breakpoint a new sample takes.
void WasteThread::replace(ThreadState& thread, const Watch& watch, uint64_t now_ns) noexcept {
  if (watch.state != Watch::State::Watched && watch.state != Watch::State::Decided) return;
  const bool is_known = is_alone() || is_in(thread.unwinder.stack(), watch.bytes.address);
  record_watch(cells_, thread.index, watch,
               watch.outcome_count && is_known && is_certain(thread, watch, now_ns));
}

void WasteThread::release(Watch& watch) noexcept {
  watch.breakpoint.disarm();
  watch.state = Watch::State::Free;
}

void WasteThread::late_hit(ThreadState& thread, uint64_t signal_data) noexcept {
  Watch* const watch = watch_of(signal_data);
  if (!watch || watch->state != Watch::State::Watched) return;
  record_watch(cells_, thread.index, *watch, false);
  release(*watch);
}

void WasteThread::end(ThreadState& thread) noexcept {
  for (Watch& watch : watches_) {
    if (watch.state == Watch::State::Watched || watch.state == Watch::State::Decided)
      record_watch(cells_, thread.index, watch, is_in(thread.unwinder.stack(), watch.bytes.address));
    watch.state = Watch::State::Free;
    watch.breakpoint.close();
  }
  cells_.seal();
}

}  // namespace hpcrun
