#include "tests/model/stepped_programs.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "hpcrun/model/instruction.h"

namespace {

using namespace hpcrun;

size_t read_child(const void* context, uint64_t address, void* to, size_t bytes) noexcept {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(*static_cast<const pid_t*>(context), &local, 1, &remote, 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

MachineState state_of(const user_regs_struct& regs) {
  return {{regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp, regs.rbp, regs.rsi, regs.rdi, regs.r8, regs.r9,
           regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15},
          regs.fs_base,
          regs.gs_base};
}

std::vector<Access> accesses_of(const Instruction& instruction, const MachineState& state, uint64_t pc) {
  std::vector<Access> made;
  for (uint8_t i = 0; i < instruction.memory_count; ++i) {
    const MemoryOperand& operand = instruction.memory[i];
    uint64_t address = static_cast<uint64_t>(operand.displacement);
    if (operand.base != kNoRegister) address += state.general[operand.base];
    if (operand.index != kNoRegister) address += state.general[operand.index] * operand.scale;
    made.push_back({address, pc, operand.bytes, operand.kind, instruction.is_locked, 0});
  }
  return made;
}

std::vector<Step> follow(pid_t child, uint64_t program) {
  std::vector<Step> steps;
  std::vector<uint64_t> functions;
  const MemoryReader reader{read_child, &child};
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    user_regs_struct regs{};
    ptrace(PTRACE_GETREGS, child, nullptr, &regs);
    if (regs.rip == program) functions = {program};
    if (!functions.empty()) {
      uint8_t bytes[kMaxInstructionBytes];
      Instruction instruction;
      const MachineState state = state_of(regs);
      if (!decode(bytes, read_child(&child, regs.rip, bytes, sizeof bytes), regs.rip, instruction)) break;
      Step step;
      step.pc = regs.rip;
      step.stack_pointer = regs.rsp;
      step.made = accesses_of(instruction, state, regs.rip);
      PlanWorkspace workspace;
      AccessPlan plan;
      plan_accesses(functions.back(), regs.rip, reader, workspace, plan);
      step.planned.resize(kMaxPlannedAccesses);
      step.planned.resize(apply_plan(plan, state, reader, step.planned.data()));
      steps.push_back(std::move(step));
      if (instruction.flow == Instruction::Flow::Call) functions.push_back(instruction.target);
      if (instruction.flow == Instruction::Flow::End) functions.pop_back();
      if (functions.empty()) break;
    }
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr)) break;
  }
  return steps;
}

}  // namespace

std::vector<Step> single_step(void (*program)()) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) _exit(1);
    raise(SIGSTOP);
    program();
    _exit(0);
  }
  std::vector<Step> steps = follow(child, reinterpret_cast<uint64_t>(program));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return steps;
}
