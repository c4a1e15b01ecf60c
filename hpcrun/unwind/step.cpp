// Steps from a frame to its caller by rules that are not simple.

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {
namespace {

// A frame of code without call frame information is taken to be no larger: beyond, rbp is some other value.
constexpr uint64_t kMaxGuessedFrameBytes = 1u << 20;

constexpr Step failed_evaluation(EvaluationStatus status) noexcept {
  return Step::failed(status == EvaluationStatus::Unreadable ? StackReason::UnreadableStack
                                                             : StackReason::Unsupported);
}

}  // namespace

Step Unwinder::State::step(const CachedCode& code, uint64_t address) noexcept {
  switch (code.rule.kind) {
    case RuleKind::EndOfStack:
      return {StepKind::Ended, StackReason::EndOfStack};
    case RuleKind::RegisterOffset:
    case RuleKind::Deref:
    case RuleKind::Plt:
      return step_by_rule(code.rule);
    case RuleKind::Interpret:
      return step_by_interpretation(code.rule, address);
    case RuleKind::FramePointer:
    case RuleKind::None:
      break;
  }
  return step_by_frame_pointer();
}

Step Unwinder::State::step_by_rule(const Rule& rule) noexcept {
  const Registers& frame = registers;
  uint64_t cfa;
  if (rule.kind == RuleKind::Plt) {
    cfa = frame.value[kRsp] + 8 + ((pc() & 15) >= static_cast<uint64_t>(rule.cfa_offset) ? 8 : 0);
  } else {
    if (!frame.has(rule.cfa_register)) {
      return all_registers ? Step::failed(StackReason::Unsupported) : Step{StepKind::NeedsRegisters};
    }
    cfa = frame.value[rule.cfa_register] + static_cast<uint64_t>(int64_t{rule.cfa_offset});
    if (rule.kind == RuleKind::Deref) {
      const uint64_t place = cfa;
      if (!memory.load(place, cfa)) return Step::failed(StackReason::UnreadableStack);
    }
  }
  caller.known = 0;
  caller.set(kRsp, cfa);

  const auto recover = [&](unsigned reg, Place place) -> bool {
    uint64_t at = static_cast<uint64_t>(place.offset());
    switch (place.base()) {
      case Place::Cfa:
        at += cfa;
        break;
      case Place::Rbp:
        if (!frame.has(kRbp)) return true;
        at += frame.value[kRbp];
        break;
      case Place::Rsp:
        at += frame.value[kRsp];
        break;
      case Place::Special:
        if (place.is_unchanged() && frame.has(reg)) caller.set(reg, frame.value[reg]);
        return true;
    }
    uint64_t value;
    if (!memory.load(at, value)) return false;
    caller.set(reg, value);
    return true;
  };
  bool loaded = recover(kReturnAddress, rule.return_address) && recover(kRbp, rule.rbp);
  if (loaded && all_registers) {
    loaded = recover(kRbx, rule.rbx) && recover(kR12, rule.r12) && recover(kR13, rule.r13) &&
             recover(kR14, rule.r14) && recover(kR15, rule.r15);
    if (loaded && (rule.flags & kRuleKernelFrame)) {
      for (unsigned reg = 0; loaded && reg < kRegisterCount; ++reg) {
        loaded = recover(reg, Place::at(Place::Rsp, kernel_frame_offset(reg)));
      }
    }
  }
  if (!loaded) return Step::failed(StackReason::UnreadableStack);
  if (!caller.has(kReturnAddress)) return Step::failed(StackReason::Unsupported);
  return finish_step(rule);
}

// Rows that no table holds, from the program that the table keeps or from the module itself.
Step Unwinder::State::step_by_interpretation(const Rule& rule, uint64_t address) noexcept {
  // Expressions may use any register: only a walk that keeps all can say that one is unknown.
  if (!all_registers) return {StepKind::NeedsRegisters};
  uint64_t bias;
  if (rule.flags & kRuleLive) {
    LiveCode found;
    if (!find_live_code(address, live, found) || !found.has_row)
      return Step::failed(StackReason::NoUnwindInfo);
    bias = found.load_bias;
  } else {
    const LoadedModule* module = loaded_module(address);
    if (!module || !module->table || static_cast<uint32_t>(rule.cfa_offset) >= module->table->program_count) {
      return Step::failed(StackReason::NoUnwindInfo);
    }
    const CfiProgram& program = module->table->programs[rule.cfa_offset];
    bias = module->load_bias;
    if (!live.machine.start(program.cie, program.fde, false) || !live.machine.run_to(address - bias)) {
      return Step::failed(StackReason::NoUnwindInfo);
    }
  }
  bool ended = false;
  const EvaluationStatus status = apply_row(live.machine.row(), registers, bias, memory, caller, ended);
  if (status != EvaluationStatus::Ok) return failed_evaluation(status);
  if (ended) return {StepKind::Ended, StackReason::EndOfStack};
  return finish_step(rule);
}

// Code without call frame information: JIT compilers keep frame pointers, hand-written leaves have no frame.
// What is found has to look like a return address.
Step Unwinder::State::step_by_frame_pointer() noexcept {
  const uint64_t sp = registers.value[kRsp];
  const uint64_t bp = registers.has(kRbp) ? registers.value[kRbp] : 0;
  uint64_t return_address;
  const auto take = [&](uint64_t cfa, uint64_t caller_bp) {
    const Registers before = registers;
    caller.known = 0;
    if (all_registers) {
      for (const unsigned reg :
           {unsigned{kRbx}, unsigned{kR12}, unsigned{kR13}, unsigned{kR14}, unsigned{kR15}}) {
        if (before.has(reg)) caller.set(reg, before.value[reg]);
      }
    }
    caller.set(kRsp, cfa);
    caller.set(kRbp, caller_bp);
    caller.set(kReturnAddress, return_address);
    guessed = true;
    return finish_step(Rule{});
  };
  const auto returns_from = [&](uint64_t at) {
    return memory.load(at, return_address) && is_plausible_return(return_address);
  };

  const bool in_module = frame_module(frames[depth - 1]) != kModuleNone;
  if (exact) {
    uint8_t code[4] = {};
    const bool readable = safe_read(pc(), code, sizeof code);
    const bool at_entry =
        code[0] == 0x55 ||                                                           // push %rbp
        (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa);  // endbr64
    const bool at_exit = code[0] == 0xc3;
    const bool frame_half_made = code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) ||  // mov %rsp,%rbp
                                                     (code[1] == 0x8b && code[2] == 0xec));
    uint64_t saved_bp;
    if (readable && frame_half_made && returns_from(sp + 8) && memory.load(sp, saved_bp)) {
      return take(sp + 16, saved_bp);
    }
    // A jump to where no code is leaves the caller's return address on top, as does an assembly leaf.
    if ((!readable || at_entry || at_exit || in_module) && returns_from(sp)) return take(sp + 8, bp);
  }
  const bool near_enough = bp >= sp && bp - sp <= kMaxGuessedFrameBytes && bp % 8 == 0;
  uint64_t saved_bp;
  if (near_enough && memory.load(bp, saved_bp) && memory.load(bp + 8, return_address)) {
    // Zeros end a stack that a JIT made; in a module rbp may be any value, and zeros are no rarity above it.
    if (return_address == 0 && saved_bp == 0 && !in_module) return take(bp + 16, saved_bp);
    const bool to_native = loaded_module(return_address) != nullptr;
    const bool chain_goes_up = saved_bp == 0 || saved_bp > bp;
    if ((to_native || chain_goes_up) && is_plausible_return(return_address)) return take(bp + 16, saved_bp);
  }
  if (exact && returns_from(sp)) return take(sp + 8, bp);
  return Step::failed(in_module ? StackReason::NoUnwindInfo : StackReason::UnknownModule);
}

Step Unwinder::State::finish_step(const Rule& rule) noexcept {
  const uint64_t cfa = caller.value[kRsp];
  const bool interrupted = (rule.flags & kRuleSignalFrame) != 0;
  // A leaf that has popped its return address already (libgcc's eh_return) has its CFA at its stack pointer.
  const bool popped = exact && cfa == sp();
  if (!interrupted && !popped && cfa <= sp() && moves_down_too_often(cfa))
    return Step::failed(StackReason::NoProgress);
  registers = caller;
  exact = interrupted;
  // The handler ran on an alternate stack, the interrupted code on the thread's own.
  if (interrupted) open_window();
  return {};
}

}  // namespace hpcrun
