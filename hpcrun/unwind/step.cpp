// Steps from a frame to its caller by rules that are not simple.

#include "hpcrun/unwind/rule_step.h"
#include "hpcrun/unwind/walk_state.h"

namespace hpcrun {
namespace {

constexpr Step failed_evaluation(EvaluationStatus status) noexcept {
  return Step::failed(status == EvaluationStatus::Unreadable ? StackReason::UnreadableStack
                                                             : StackReason::Unsupported);
}

}  // namespace

Step Unwinder::State::step(CachedCode& known, uint64_t address) noexcept {
  switch (known.rule.kind) {
    case RuleKind::EndOfStack:
      return {StepKind::Ended, StackReason::EndOfStack};
    case RuleKind::RegisterOffset:
    case RuleKind::Deref:
    case RuleKind::Plt:
      return step_by_rule(known.rule);
    case RuleKind::Interpret:
      return step_by_interpretation(known.rule, address);
    case RuleKind::FramePointer:
    case RuleKind::None:
      break;
  }
  return step_without_cfi(known.rule);
}

Step Unwinder::State::step_by_rule(const Rule& rule) noexcept {
  switch (hpcrun::step_by_rule(rule, registers, all_registers, memory, caller)) {
    case RuleStep::Ok:
      return finish_step(rule);
    case RuleStep::UnknownRegister:
      return all_registers ? Step::failed(StackReason::Unsupported) : Step{StepKind::NeedsRegisters};
    case RuleStep::Unreadable:
      return Step::failed(StackReason::UnreadableStack);
    case RuleStep::NoReturnAddress:
      break;
  }
  return Step::failed(StackReason::Unsupported);
}

// Steps by a row that no table holds, using the program kept in the table or the module itself.
Step Unwinder::State::step_by_interpretation(const Rule& rule, uint64_t address) noexcept {
  // Expressions may use any register: only a walk that tracks all of them can decide that one is unknown.
  if (!all_registers) return {StepKind::NeedsRegisters};
  uint64_t bias;
  if (rule.flags & kRuleLive) {
    LiveCode found;
    if (!find_live_code(address, live, found) || !found.has_row)
      return Step::failed(StackReason::NoUnwindInfo);
    bias = found.load_bias;
  } else {
    const LoadedModule* module = loaded_module(address);
    if (!module || !module->table) return Step::failed(StackReason::NoUnwindInfo);
    const UnwindTable& table = *module->table;
    bias = module->load_bias;
    bool is_found = false;
    if (table.index) {
      is_found = table.index->find(address - bias, row());
    } else if (static_cast<uint32_t>(rule.cfa_offset) < table.program_count) {
      const CfiProgram& program = table.programs[rule.cfa_offset];
      is_found = live.machine.start(program.cie, program.fde, false) && live.machine.run_to(address - bias);
    }
    if (!is_found) return Step::failed(StackReason::NoUnwindInfo);
  }
  bool ended = false;
  const EvaluationStatus status = apply_row(live.machine.row(), registers, bias, memory, caller, ended);
  if (status != EvaluationStatus::Ok) return failed_evaluation(status);
  if (ended) return {StepKind::Ended, StackReason::EndOfStack};
  return finish_step(rule);
}

Step Unwinder::State::finish_step(const Rule& rule) noexcept {
  const uint64_t cfa = caller.value[kRsp];
  const bool interrupted = (rule.flags & kRuleSignalFrame) != 0;
  // A leaf that has already popped its return address (libgcc's eh_return) has its CFA at its stack pointer.
  const bool popped = exact && cfa == sp();
  if (!interrupted && !popped && cfa <= sp() && moves_down_too_often(cfa))
    return Step::failed(StackReason::NoProgress);
  registers = caller;
  exact = interrupted;
  // The handler ran on an alternate stack, and the interrupted code on the thread's own.
  if (interrupted) open_window();
  return {};
}

}  // namespace hpcrun
