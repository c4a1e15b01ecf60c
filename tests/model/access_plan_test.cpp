// Which memory a sampled thread accesses: plans compared with the effects of real instructions, one by one,
// and with synthetic code.

#include "hpcrun/model/access_plan.h"

#include <ucontext.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include "hpcrun/model/instruction.h"
#include "tests/model/stepped_programs.h"

extern "C" {
void stepped_O0();
void stepped_O1();
void stepped_O2();
void stepped_O3();
}

using namespace hpcrun;

namespace {

constexpr uint64_t kStackBytes = 64 * 1024;

bool is_on_stack(uint64_t address, const Step& step) {
  return address >= step.stack_pointer - 256 && address < step.stack_pointer + kStackBytes;
}

bool has(const std::vector<Access>& accesses, uint64_t line) {
  for (const Access& access : accesses)
    if (line_of(access.address) == line) return true;
  return false;
}

struct Tally {
  size_t right = 0;
  size_t wrong = 0;
  size_t accesses = 0;        // by the program, outside its stack
  size_t seen_one_later = 0;  // found by a sample at the next instruction
  size_t seen_three_later = 0;
};

// A planned access is checked if the program really reaches the instruction at that distance.
Tally compare(const std::vector<Step>& steps) {
  Tally tally;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const Access& planned : steps[i].planned) {
      const auto at = static_cast<int64_t>(i) + planned.distance;
      if (at < 0 || at >= static_cast<int64_t>(steps.size())) continue;
      const Step& real = steps[static_cast<size_t>(at)];
      if (real.pc != planned.instruction) continue;
      bool found = false;
      for (const Access& made : real.made)
        found |= made.address == planned.address && made.bytes == planned.bytes && made.kind == planned.kind;
      ++(found ? tally.right : tally.wrong);
    }
    for (const Access& made : steps[i].made) {
      if (is_on_stack(made.address, steps[i]) || i + 3 >= steps.size()) continue;
      ++tally.accesses;
      tally.seen_one_later += has(steps[i + 1].planned, line_of(made.address));
      tally.seen_three_later += has(steps[i + 3].planned, line_of(made.address));
    }
  }
  return tally;
}

// Code at a synthetic address, and words of memory at others.
struct Memory {
  uint64_t begin;
  std::vector<uint8_t> bytes;
};

size_t read_memory(const void* context, uint64_t address, void* to, size_t bytes) noexcept {
  for (const Memory& memory : *static_cast<const std::vector<Memory>*>(context)) {
    if (address < memory.begin || address >= memory.begin + memory.bytes.size()) continue;
    const size_t offset = address - memory.begin;
    const size_t count = std::min(bytes, memory.bytes.size() - offset);
    memcpy(to, memory.bytes.data() + offset, count);
    return count;
  }
  return 0;
}

std::vector<Access> accesses(const std::vector<Memory>& memory, uint64_t begin, uint64_t pc,
                             const MachineState& state) {
  const MemoryReader reader{read_memory, &memory};
  PlanWorkspace workspace;
  AccessPlan plan;
  plan_accesses(begin, pc, reader, workspace, plan);
  std::vector<Access> out(kMaxPlannedAccesses);
  out.resize(apply_plan(plan, state, reader, out.data()));
  return out;
}

constexpr uint64_t kCode = 0x401000;

// Plans on a separate stack, and returns how much of it was written.
size_t stack_of_planning(const std::vector<Memory>& code, uint64_t begin, uint64_t pc) {
  static struct {
    const std::vector<Memory>* code;
    uint64_t begin, pc;
    PlanWorkspace workspace;
    AccessPlan plan;
    ucontext_t back, on_it;
  } run;
  run.code = &code;
  run.begin = begin;
  run.pc = pc;
  constexpr uint8_t kUnused = 0xa5;
  std::vector<uint8_t> stack(64 * 1024, kUnused);
  getcontext(&run.on_it);
  run.on_it.uc_stack = {stack.data(), 0, stack.size()};
  run.on_it.uc_link = &run.back;
  makecontext(
      &run.on_it,
      [] {
        const MemoryReader reader{read_memory, run.code};
        plan_accesses(run.begin, run.pc, reader, run.workspace, run.plan);
      },
      0);
  swapcontext(&run.back, &run.on_it);
  const auto deepest = std::ranges::find_if(stack, [](uint8_t byte) { return byte != kUnused; });
  return static_cast<size_t>(stack.end() - deepest);
}

MachineState registers() {
  MachineState state{};
  for (uint8_t i = 0; i < kGeneralRegisters; ++i) state.general[i] = 0x10000u * (i + 1u);
  return state;
}

}  // namespace

TEST_CASE("plans name the addresses that instructions use") {
  const struct {
    const char* name;
    void (*program)();
    double seen;  // share of all accesses, from the next instruction
  } programs[] = {{"-O0", stepped_O0, 0.85},
                  {"-O1", stepped_O1, 0.95},
                  {"-O2", stepped_O2, 0.95},
                  {"-O3", stepped_O3, 0.95}};
  for (const auto& [name, program, seen] : programs) {
    const std::vector<Step> steps = single_step(program);
    if (steps.empty()) {
      WARN("single-stepping is not allowed here: plans are not compared with real programs");
      return;
    }
    const Tally tally = compare(steps);
    INFO(name << ": " << steps.size() << " instructions, " << tally.right << " planned accesses right, "
              << tally.wrong << " wrong; of " << tally.accesses << " accesses " << tally.seen_one_later
              << " are seen one instruction later, " << tally.seen_three_later << " three later");
    CHECK(tally.wrong == 0);
    CHECK(tally.right > 1'000);
    CHECK(static_cast<double>(tally.seen_one_later) > seen * static_cast<double>(tally.accesses));
  }
}

TEST_CASE("in long functions what is just before the pc is found from nearby, and is the same") {
  // Uses this program's own code, one function after the other.
  constexpr size_t kBytes = 16'000;
  const auto* const text = reinterpret_cast<const uint8_t*>(&plan_accesses);
  const std::vector<Memory> memory{{kCode, {text, text + kBytes}}};
  std::vector<uint64_t> begins;
  for (size_t at = 0; at + kMaxInstructionBytes < kBytes;) {
    Instruction instruction;
    REQUIRE(decode(memory[0].bytes.data() + at, kBytes - at, kCode + at, instruction));
    begins.push_back(kCode + at);
    at += instruction.length;
  }
  size_t compared = 0, preceding = 0;
  for (size_t i = 100; i < begins.size(); ++i) {
    const uint64_t pc = begins[i], near = begins[i - 20];
    const uint64_t far = *std::ranges::lower_bound(begins, pc - std::min(pc - kCode, uint64_t{2'000}));
    REQUIRE(pc - near < 180);
    const std::vector<Access> from_near = accesses(memory, near, pc, registers());
    const std::vector<Access> from_far = accesses(memory, far, pc, registers());
    REQUIRE(from_near.size() == from_far.size());
    for (size_t n = 0; n < from_near.size(); ++n) {
      REQUIRE(from_near[n].address == from_far[n].address);
      REQUIRE(from_near[n].instruction == from_far[n].instruction);
      preceding += from_near[n].distance < 0;
    }
    ++compared;
  }
  CHECK(compared > 2'000);
  CHECK(preceding > 500);
}

TEST_CASE("a locked instruction that ends at the pc is seen") {
  // lock inc qword [rdi+8]; ret
  const std::vector<Memory> code{{kCode, {0xf0, 0x48, 0xff, 0x47, 0x08, 0xc3}}};
  const auto seen = accesses(code, kCode, kCode + 5, registers());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].address == 0x80008);
  CHECK(seen[0].bytes == 8);
  CHECK(seen[0].kind == AccessKind::ReadWrite);
  CHECK(seen[0].is_locked);
  CHECK(seen[0].distance == -1);
  // The start of the function is not known.
  CHECK(accesses(code, kCode + 5, kCode + 5, registers()).empty());
  // A loop leads there: lock inc qword [rdi+8]; jmp back
  const std::vector<Memory> loop{{kCode, {0xf0, 0x48, 0xff, 0x47, 0x08, 0xeb, 0xf9}}};
  const auto again = accesses(loop, kCode + 5, kCode + 5, registers());
  REQUIRE(again.size() == 2);
  CHECK(again[0].distance == -1);
  CHECK(again[0].address == 0x80008);
  CHECK(again[1].distance == 1);
  CHECK(accesses(loop, kCode, kCode, registers()).size() == 1);
}

TEST_CASE("a load that overwrites its own base register is placed by the instructions before it") {
  // lea rax, [rip+0x100]; mov rax, [rax]; mov [rbp-0x10], rax
  const std::vector<Memory> variable{
      {kCode, {0x48, 0x8d, 0x05, 0, 1, 0, 0, 0x48, 0x8b, 0x00, 0x48, 0x89, 0x45, 0xf0}}};
  const auto seen = accesses(variable, kCode, kCode + 10, registers());
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].distance == -1);
  CHECK(seen[0].address == kCode + 7 + 0x100);
  CHECK(seen[0].kind == AccessKind::Read);

  // mov rax, [rbp-8]; mov rax, [rax+0x10]; nop; and the pointer in the frame.
  const std::vector<uint8_t> by_pointer{0x48, 0x8b, 0x45, 0xf8, 0x48, 0x8b, 0x40, 0x10, 0x90};
  const Memory frame{0x60000 - 8, {0x00, 0x20, 0x50, 0, 0, 0, 0, 0}};
  const auto looked_up = accesses({{kCode, by_pointer}, frame}, kCode, kCode + 8, registers());
  REQUIRE(looked_up.size() == 2);
  CHECK(std::ranges::count(looked_up, 0x502010u, &Access::address) == 1);
}

TEST_CASE("a pointer that was overwritten since it was used gives no address") {
  // mov rax, [rbp-8]; mov rax, [rax]; mov [rbp-8], rax; nop: the frame holds the next pointer.
  const std::vector<Memory> memory{
      {kCode, {0x48, 0x8b, 0x45, 0xf8, 0x48, 0x8b, 0x00, 0x48, 0x89, 0x45, 0xf8, 0x90}},
      {0x60000 - 8, {0x00, 0x20, 0x50, 0, 0, 0, 0, 0}}};
  for (const Access& access : accesses(memory, kCode, kCode + 11, registers()))
    CHECK(access.address == 0x60000 - 8);
  // Just after the load that is the case, too: only its size and kind are known.
  const MemoryReader reader{read_memory, &memory};
  PlanWorkspace workspace;
  AccessPlan plan;
  plan_accesses(kCode + 4, kCode + 7, reader, workspace, plan);
  CHECK(plan.unplaced.bytes == 8);
  CHECK(plan.unplaced.kind == AccessKind::Read);
  plan_accesses(kCode, kCode + 7, reader, workspace, plan);
  CHECK(plan.unplaced.bytes == 0);
}

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
TEST_CASE("planning leaves room for the handler on an alternate stack of 8 KiB") {
  // A loop of unoptimised code that uses up everything that planning has.
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 64; ++i) {
    const uint8_t load[] = {0x48, 0x8b, 0x45, 0xf8, 0x48, 0x8b, 0x00, 0x48, 0x89, 0x45, 0xf0};
    bytes.insert(bytes.end(), std::begin(load), std::end(load));
  }
  const std::vector<Memory> code{{kCode, bytes}};
  CHECK(accesses(code, kCode, kCode + 40 * 11 + 7, registers()).size() > 1);
  CHECK(stack_of_planning(code, kCode, kCode + 40 * 11 + 7) < 2'560);
  CHECK(stack_of_planning(code, kCode + 40 * 11, kCode + 40 * 11) < 2'560);
}
#endif

TEST_CASE("the back edge of a loop is followed once") {
  // loop: add dword [rsi+rcx*4], 1; add rcx, 2; cmp rcx, rdx; jb loop; ret
  const std::vector<Memory> code{
      {kCode, {0x83, 0x04, 0x8e, 0x01, 0x48, 0x83, 0xc1, 0x02, 0x48, 0x39, 0xd1, 0x72, 0xf3, 0xc3}}};
  const MachineState state = registers();
  const auto seen = accesses(code, kCode, kCode + 8, state);
  REQUIRE(seen.size() == 2);
  const uint64_t rsi = state.general[6];
  const uint64_t rcx = state.general[1];
  CHECK(seen[0].distance == -2);
  CHECK(seen[0].address == rsi + (rcx - 2) * 4);
  CHECK(seen[1].distance == 2);
  CHECK(seen[1].address == rsi + rcx * 4);
}

TEST_CASE("an address that comes out of memory is looked up there") {
  // mov rax, [rdi]; movsxd rcx, dword [rax+4]; inc byte [rax+rcx]
  std::vector<Memory> memory{
      {kCode, {0x48, 0x8b, 0x07, 0x48, 0x63, 0x48, 0x04, 0xfe, 0x04, 0x08}},
      {0x80000, {0x00, 0x20, 0x50, 0, 0, 0, 0, 0}},
      {0x502000, {0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff}},
  };
  auto seen = accesses(memory, kCode, kCode, registers());
  REQUIRE(seen.size() == 3);
  CHECK(seen[2].address == 0x502000 - 2);
  CHECK(seen[2].kind == AccessKind::ReadWrite);
  memory.pop_back();  // the pointer leads nowhere
  seen = accesses(memory, kCode, kCode, registers());
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].address == 0x502004);
}

TEST_CASE("what nobody can know is left out") {
  // mul rcx; inc qword [rax]; call +0; inc qword [rdi]; inc qword [rbx]; push rbx; pop rcx; prefetcht0 [rbx];
  // jmp rax
  const std::vector<Memory> code{
      {kCode, {0x48, 0xf7, 0xe1, 0x48, 0xff, 0x00, 0xe8, 0,    0,    0,    0,    0x48,
               0xff, 0x07, 0x48, 0xff, 0x03, 0x53, 0x59, 0x0f, 0x18, 0x0b, 0xff, 0xe0}}};
  const auto seen = accesses(code, kCode, kCode, registers());
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].address == 0x40000);
}

TEST_CASE("segments are added") {
  // mov eax, fs:[0x28]
  const std::vector<Memory> code{{kCode, {0x64, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}}};
  MachineState state = registers();
  state.fs_base = 0x7f0000000000;
  const auto seen = accesses(code, kCode, kCode, state);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].address == 0x7f0000000028);
}

TEST_CASE("any bytes are planned without harm") {
  uint64_t seed = 1;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> bytes(1 + round % 200);
    for (uint8_t& byte : bytes) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      byte = static_cast<uint8_t>(seed >> 56);
    }
    const std::vector<Memory> code{{kCode, bytes}};
    const uint64_t pc = kCode + seed % bytes.size();
    for (const Access& access : accesses(code, kCode, pc, registers())) {
      REQUIRE(access.bytes > 0);
      REQUIRE(access.bytes <= 64);
    }
  }
}
