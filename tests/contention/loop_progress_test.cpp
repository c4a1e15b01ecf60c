#include "hpcrun/contention/loop_progress.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace hpcrun;

namespace {

constexpr uint64_t kLine = 0x1000, kPc = 0x400000;
constexpr uint8_t kStackPointer = 4;

size_t read_own(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return bytes;
}
constexpr MemoryReader kOwn{read_own, nullptr};

Access access_to(const void* address, uint16_t bytes) {
  return {reinterpret_cast<uint64_t>(address), 0, bytes, AccessKind::ReadWrite, false, 0};
}

}  // namespace

TEST_CASE("registers and words of the stack that changed are reported") {
  int64_t large = 100;
  int32_t small = 7;
  const Access accesses[] = {access_to(&large, 8), access_to(&small, 4)};
  MachineState state{};
  state.general[kStackPointer] = reinterpret_cast<uint64_t>(&large) & ~uint64_t{4095};
  state.general[0] = 1000;
  state.general[1] = 5;
  LoopProgress loop{};
  CHECK(loop.before(kLine, kPc, state) == 0);
  loop.note(kLine, kPc, state, accesses, 2, kOwn, 17);
  CHECK(loop.before(kLine, kPc + 20, state) == 17);

  large -= 30;
  small += 9;
  state.general[0] += 400;
  Progress changes[LoopProgress::kMaxChanges];
  REQUIRE(loop.changes(state, accesses, 2, kOwn, 4'000'000, changes) == 3);
  CHECK(changes[0].value == 0);
  CHECK(changes[0].change == 400);
  CHECK(changes[0].cpu_ns == 4'000'000);
  CHECK(changes[1].change == -30);
  CHECK(changes[2].change == 9);
  CHECK(changes[1].value >= Progress::kStackWord);
  CHECK(changes[1].value != changes[2].value);
}

TEST_CASE("another line, loop or frame, and what was cleared, are compared with nothing") {
  MachineState state{};
  LoopProgress loop{};
  loop.note(kLine, kPc, state, nullptr, 0, kOwn, 17);
  CHECK(loop.before(kLine + 64, kPc, state) == 0);
  CHECK(loop.before(kLine, kPc + 8192, state) == 0);
  CHECK(loop.before(kLine, kPc - 8192, state) == 0);
  MachineState deeper = state;
  deeper.general[kStackPointer] -= 16;
  CHECK(loop.before(kLine, kPc, deeper) == 0);
  loop.clear();
  CHECK(loop.before(kLine, kPc, state) == 0);
}

TEST_CASE("addresses and random numbers are no progress, nor is what cannot be read") {
  MachineState state{};
  LoopProgress loop{};
  loop.note(kLine, kPc, state, nullptr, 0, kOwn, 17);
  state.general[2] = uint64_t{1} << 41;
  Progress changes[LoopProgress::kMaxChanges];
  CHECK(loop.changes(state, nullptr, 0, kOwn, 1, changes) == 0);

  const MemoryReader nothing{[](const void*, uint64_t, void*, size_t) noexcept { return size_t{0}; },
                             nullptr};
  int64_t word = 1;
  const Access access = access_to(&word, 8);
  loop.note(kLine, kPc, state, &access, 1, nothing, 18);
  CHECK(loop.changes(state, &access, 1, kOwn, 1, changes) == 0);
}

TEST_CASE("of both kinds about as many are reported, and not more than are useful") {
  LoopProgress loop{};
  int free = 0;
  for (int i = 0; i < 100; ++i) free += loop.takes(false);
  CHECK(free > 4);
  CHECK(free < 20);
  CHECK(loop.wants_more());
  for (int i = 0; i < 16; ++i) CHECK(loop.takes(true));
  CHECK_FALSE(loop.wants_more());
  CHECK(loop.takes(false));
}
