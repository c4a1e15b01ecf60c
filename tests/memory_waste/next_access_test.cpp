// A sample stands for the next store or load in program order: spills, pushes and calls included.

#include "hpcrun/memory_waste/next_access.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kCode = 0x400000;
constexpr uint64_t kStack = 0x7ffc0000;

struct Program {
  std::vector<uint8_t> bytes;
};

size_t read(const void* context, uint64_t address, void* to, size_t bytes) noexcept {
  const auto& program = static_cast<const Program*>(context)->bytes;
  if (address < kCode || address >= kCode + program.size()) return 0;
  const size_t count = std::min<size_t>(bytes, kCode + program.size() - address);
  memcpy(to, program.data() + (address - kCode), count);
  return count;
}

NextAccess next(const Program& program, AccessKind wanted, uint64_t pc = kCode) {
  const MemoryReader reader{read, &program};
  PlanWorkspace workspace;
  AccessPlan plan;
  plan_accesses(kCode, pc, reader, workspace, plan, PlanFor::EveryAccess);
  MachineState state{};
  state.general[0] = 0x5000;  // rax
  state.general[4] = kStack;  // rsp
  state.general[5] = kStack + 64;
  return next_access(plan, state, wanted, reader);
}

}  // namespace

TEST_CASE("a store to the stack is the next store") {
  const Program program{{0x48, 0x8b, 0x08,              // mov (%rax), %rcx
                         0x48, 0x89, 0x4c, 0x24, 0x10,  // mov %rcx, 16(%rsp)
                         0x48, 0x89, 0x08, 0xc3}};      // mov %rcx, (%rax); ret
  const NextAccess store = next(program, AccessKind::Write);
  REQUIRE(store.found == NextAccess::Found::Placed);
  CHECK(store.access.address == kStack + 16);
  CHECK(store.access.instruction == kCode + 3);
  CHECK(store.access.bytes == 8);
  const NextAccess load = next(program, AccessKind::Read);
  CHECK(load.access.address == 0x5000);
}

TEST_CASE("pushes are stores, and the stack pointer is followed through them") {
  const Program program{{0x53, 0x55, 0x5d, 0x5b, 0xc3}};  // push %rbx; push %rbp; pop %rbp; pop %rbx; ret
  CHECK(next(program, AccessKind::Write).access.address == kStack - 8);
  CHECK(next(program, AccessKind::Write, kCode + 1).access.address == kStack - 8);
  CHECK(next(program, AccessKind::Read).access.address == kStack - 16);
  CHECK(next(program, AccessKind::Read).access.instruction == kCode + 2);
  CHECK(next(program, AccessKind::Read, kCode + 4).access.address == kStack);
}

TEST_CASE("a call stores the return address; what its function loads is not known") {
  const Program program{{0xe8, 0x00, 0x01, 0x00, 0x00, 0x48, 0x8b, 0x08}};  // call; mov (%rax), %rcx
  CHECK(next(program, AccessKind::Write).access.address == kStack - 8);
  CHECK(next(program, AccessKind::Read).found == NextAccess::Found::None);
}

TEST_CASE("leave loads the caller's frame pointer") {
  const Program program{{0xc9, 0xc3}};
  CHECK(next(program, AccessKind::Read).access.address == kStack + 64);
}

TEST_CASE("a store through an unknown register is not passed over") {
  const Program program{{0x48, 0x0f, 0xaf, 0xc9,    // imul %rcx, %rcx
                         0x48, 0x89, 0x01,          // mov %rax, (%rcx)
                         0x48, 0x89, 0x00, 0xc3}};  // mov %rax, (%rax); ret
  const NextAccess store = next(program, AccessKind::Write);
  CHECK(store.found == NextAccess::Found::Unplaced);
  CHECK(store.access.instruction == kCode + 4);
  CHECK(store.access.bytes == 8);
}

TEST_CASE("repeated string instructions are recognized") {
  const Program program{{0xf3, 0x48, 0xab, 0xaa, 0xf3, 0x90}};  // rep stosq; stosb; pause
  const MemoryReader reader{read, &program};
  CHECK(is_repeated(kCode, reader));
  CHECK_FALSE(is_repeated(kCode + 3, reader));
  CHECK_FALSE(is_repeated(kCode + 4, reader));
}
