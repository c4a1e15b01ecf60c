#include "hpcrun/unwind/unwinder.h"

#include "hpcrun/unwind/moved_code.h"
#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {

constinit std::atomic<LeaveMovedCode*> leave_moved_code{nullptr};

namespace {

// A stack switch by hand-written code may go to lower addresses. A smaller step down stays on the same stack
// and is an error. More than kMaxDownwardSteps switches mean a cycle through garbage.
constexpr uint64_t kMinSwitchBytes = 64 * 1024;
constexpr unsigned kMaxDownwardSteps = 32;

constexpr uint32_t kWalkedRegisters = 1u << kRsp | 1u << kRbp | 1u << kReturnAddress;

}  // namespace

void Unwinder::State::open_window() noexcept {
  const uint64_t low = sp();
  if (low >= bounds.low && low < bounds.high) {
    memory.begin(low, bounds.high);
  } else {
    memory.begin(0, 0);
  }
}

bool Unwinder::State::moves_down_too_often(uint64_t cfa) noexcept {
  return sp() - cfa < kMinSwitchBytes || ++downward_steps > kMaxDownwardSteps;
}

void Unwinder::State::start(const ucontext_t& context) noexcept {
  const greg_t* const gregs = context.uc_mcontext.gregs;
  for (unsigned reg = 0; reg < kRegisterCount; ++reg) {
    registers.value[reg] =
        static_cast<uint64_t>(gregs[(kernel_frame_offset(reg) - kernel_frame_offset(kR8)) / 8]);
  }
  exact = true;
  guess = Guess::None;
  search.next = 0;
  search.tries = 0;
  depth = 0;
  last_return = 0;
  downward_steps = 0;
  assumed_return = 0;
  memory.begin_walk();
  code.begin();
  open_window();
}

// Each read is a system call. A walk would take many in generated code that never repeats an address, or on a
// stack that jumps back and forth.
bool Unwinder::State::is_too_long() const noexcept {
  constexpr uint32_t kMaxReads = 4096;  // a few milliseconds
  return code.reads() + memory.reads() > kMaxReads;
}

StackReason Unwinder::State::guessed_reason() const noexcept {
  switch (guess) {
    case Guess::Search:
      return StackReason::SearchedLeaf;
    case Guess::Unproven:
      return StackReason::NoUnwindInfo;
    default:
      return StackReason::JitFramePointer;
  }
}

// Returns the reason for a return address of zero, which ends stacks without call frame information.
StackReason Unwinder::State::end_reason(StackReason found) const noexcept {
  if (guess != Guess::None) return guessed_reason();
  if (found == StackReason::EndOfStack) return found;
  return sp() > bounds.low && sp() <= bounds.high ? StackReason::ThreadStart : StackReason::ForeignStack;
}

// True at the base of a hand-made stack: no call pushed the return address, and what lies above is not a frame.
bool Unwinder::State::is_base_of_made_stack() noexcept {
  const bool foreign = sp() <= bounds.low || sp() > bounds.high;
  return foreign && last_return != 0 && !is_call_return(last_return);
}

Step Unwinder::State::judge_failure(Step failure) noexcept {
  if (stack_class(failure.reason) != StackClass::Broken && failure.reason != StackReason::NoUnwindInfo &&
      failure.reason != StackReason::GeneratedCode)
    return failure;
  if (!is_base_of_made_stack()) return failure;
  return {StepKind::Ended, guess != Guess::None ? guessed_reason() : StackReason::ForeignStack};
}

bool Unwinder::State::has_left_moved_code() noexcept {
  LeaveMovedCode* const leave = leave_moved_code.load(std::memory_order_acquire);
  if (!leave || loaded_module(pc())) return false;
  if (!leave(registers.value[kReturnAddress], registers.value[kRsp])) return false;
  exact = true;
  return true;
}

// Walks until the stack ends or a step fails. kAll also tracks the callee-saved registers, which few stacks
// need. kRecord records what the walk depends on.
template <bool kAll, bool kRecord>
Step Unwinder::State::run() noexcept {
  registers.known = kAll ? kAllRegisters : kWalkedRegisters;
  all_registers = kAll;
  for (;;) {
    if (pc() == 0 && !exact) {
      // Zeros do not prove that the word found by search is the caller.
      if (guess == Guess::Search) return Step::failed(StackReason::BadReturnAddress);
      return {StepKind::Ended, end_reason(StackReason::ThreadStart)};
    }
    if (depth == kMaxDepth) return Step::failed(StackReason::TooDeep);
    const uint64_t address = pc() - (exact ? 0 : 1);
    CachedCode* known = cache.find(address, address | generation_tag);
    if (!known) [[unlikely]] {
      if (has_left_moved_code()) {
        if constexpr (kRecord) record->is_complete = false;
        continue;
      }
      const Step resolved = resolve(address, known);
      if (resolved.kind != StepKind::Continue) return resolved;
    }
    last_return = exact ? 0 : pc();
    frames[depth++] = known->key;
    const Rule& rule = known->rule;
    if (!(rule.flags & kRuleSimple)) [[unlikely]] {
      const bool is_realigned = kRecord && is_realigned_frame(rule);
      const uint64_t bp = registers.value[kRbp];
      if constexpr (kRecord) record->is_complete &= is_realigned || rule.kind == RuleKind::EndOfStack;
      const Step stepped = step(*known, address);
      if constexpr (kRecord)
        if (is_realigned && stepped.kind == StepKind::Continue) record_realigned_frame(rule, bp);
      if (stepped.kind == StepKind::Continue) continue;
      if (stepped.kind == StepKind::Ended) return {StepKind::Ended, end_reason(stepped.reason)};
      return stepped;
    }

    const uint64_t base = registers.value[rule.cfa_register == kRsp ? kRsp : kRbp];
    const uint64_t cfa = base + static_cast<uint64_t>(int64_t{rule.cfa_offset});
    if (cfa <= sp() && moves_down_too_often(cfa)) return Step::failed(StackReason::NoProgress);
    const auto recover = [&](unsigned reg, RegisterLocation location) {
      return location.is_unchanged() ||
             memory.load(cfa + static_cast<uint64_t>(location.offset()), registers.value[reg]);
    };
    bool loaded = memory.load(cfa - 8, registers.value[kReturnAddress]) && recover(kRbp, rule.rbp);
    if constexpr (kAll) {
      loaded = loaded && recover(kRbx, rule.rbx) && recover(kR12, rule.r12) && recover(kR13, rule.r13) &&
               recover(kR14, rule.r14) && recover(kR15, rule.r15);
      constexpr uint32_t kPreserved = 1u << kRbx | 1u << kR12 | 1u << kR13 | 1u << kR14 | 1u << kR15;
      registers.known &= kWalkedRegisters | kPreserved;
    }
    if (!loaded) return Step::failed(StackReason::UnreadableStack);
    if constexpr (kRecord) record_frame(rule, cfa);
    registers.value[kRsp] = cfa;
    exact = false;
  }
}

// Walks, and if a return address found by search leads nowhere, tries the next one.
template <bool kAll, bool kRecord>
Step Unwinder::State::run_with_searches() noexcept {
  Step end = run<kAll, kRecord>();
  while (end.kind == StepKind::Failed && search.next != 0 && end.reason != StackReason::TooDeep) {
    end = search_frame();
    if (end.kind == StepKind::Continue) end = run<kAll, kRecord>();
  }
  return end;
}

FrameKey frame_of(const void* code) noexcept {
  const auto address = reinterpret_cast<uint64_t>(code);
  const SnapshotReader reader;
  const LoadedModule* module = find_module(reader.snapshot(), address);
  return module ? make_frame(module->id, address - module->load_bias) : FrameKey{0};
}

bool Unwinder::attach(Arena& arena, StackBounds bounds) noexcept {
  state_ = static_cast<State*>(arena.allocate(sizeof(State)));
  if (!state_) return false;
  // Zeroed memory is a valid empty state; constructing all of it would touch pages that no walk may need.
  state_->bounds = bounds;
  return true;
}

void Unwinder::set_stack(StackBounds bounds) noexcept {
  state_->bounds = bounds;
}

uint64_t Unwinder::instruction_before(uint64_t address) noexcept {
  const SnapshotReader reader;
  const LoadedModule* const module = find_module(reader.snapshot(), address);
  if (!module || !module->table) return address;
  const uint64_t elf_address = address - module->load_bias;
  const CfiIndex* const index = module->table->index;
  uint64_t begin = 0;
  if (!index) {
    begin = row_begin(*module->table, elf_address);
  } else if (index->find(elf_address, state_->row())) {
    begin = state_->live.machine.from();
  }
  return begin ? begin + module->load_bias : address;
}

StackBounds Unwinder::stack() const noexcept {
  return state_->bounds;
}

template <bool kRecord>
Stack Unwinder::walk_from(const ucontext_t& context, WalkRecord* record) noexcept {
  State& s = *state_;
  const SnapshotReader reader;
  s.snapshot = &reader.snapshot();
  s.last_module = nullptr;
  const uint32_t generation = reader.generation();
  if (generation >> 16 != s.generation_epoch) {
    // Tags hold the low 16 bits of the generation: all entries are dropped before these repeat.
    s.cache.clear();
    s.generation_epoch = generation >> 16;
  }
  s.generation_tag = uint64_t{static_cast<uint16_t>(generation)} << kModuleShift;
  s.start(context);
  if constexpr (kRecord) {
    s.record = record;
    s.begin_record(context, generation);
  }
  Step end = s.run_with_searches<false, kRecord>();
  if constexpr (kRecord) s.end_record(end);
  if (end.kind == StepKind::NeedsRegisters) {
    s.start(context);
    end = s.run_with_searches<true, false>();
  }
  if (end.kind == StepKind::Failed) end = s.judge_failure(end);
  return {s.frames, s.depth, end.reason};
}

Stack Unwinder::walk(const ucontext_t& context) noexcept {
  return walk_from<false>(context, nullptr);
}

Stack Unwinder::walk(const ucontext_t& context, WalkRecord& record) noexcept {
  return walk_from<true>(context, &record);
}

}  // namespace hpcrun
