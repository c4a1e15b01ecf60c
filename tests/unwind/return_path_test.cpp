// The location of return addresses in functions without unwind tables, found by following the code to its
// returns.

#include "hpcrun/unwind/return_path.h"

#include <catch2/catch.hpp>

#include "hpcrun/model/stack_effect.h"

using namespace hpcrun;
using Base = StackLocation::Base;

// Each label names the instruction after it.
asm(R"(
  .text
  .p2align 4
looping:
  push %rbp
  push %rbx
  sub $0x18, %rsp
looping_1:
  dec %rax
  vaddps %ymm0, %ymm1, %ymm2
  jnz looping_1
looping_2:
  vzeroupper
  add $0x18, %rsp
looping_3:
  pop %rbx
  pop %rbp
looping_4:
  ret

realigned:
  mov %rsp, %rax
  and $-64, %rsp
  sub $0x100, %rsp
  mov %rax, 0xc0(%rsp)
realigned_1:
  call looping
  mov 0xc0(%rsp), %rsp
realigned_2:
  ret

framed:
  push %rbp
  mov %rsp, %rbp
  push %r12
  sub $0x20, %rsp
framed_1:
  test %rax, %rax
  lea -8(%rbp), %rsp
  pop %r12
framed_2:
  pop %rbp
  ret

left:
  nop
  leave
  ret

# An endless loop, left by a branch to code that comes after another function's.
endless:
  sub $0x28, %rsp
endless_1:
  test %rax, %rax
  jz 2f
  dec %rax
endless_2:
  jmp endless_1
  push %rax
  push %rax
  ret
2:
  add $0x28, %rsp
  ret

# Ends in code that lies before it.
shared_end:
  pop %rcx
  ret
by_shared_end:
  push %rcx
by_shared_end_1:
  nop
  jmp shared_end

over_data:
  push %rcx
over_data_1:
  jmp 3f
  .byte 0x06, 0x06, 0x06
3:
  pop %rcx
  ret

by_table:
  push %rcx
by_table_1:
  nop
  jmp *%rax

circle:
  jmp circle

# Removes its argument from the stack and pushes the return address again.
drops_arguments:
  pop %rcx
  add $0x10, %rsp
  push %rcx
  ret
)");

#define LABELS(X)                                                                                      \
  X(looping_1)                                                                                         \
  X(looping_2)                                                                                         \
  X(looping_3) X(looping_4) X(realigned_1) X(realigned_2) X(framed_1) X(framed_2) X(left) X(endless_1) \
      X(endless_2) X(by_shared_end_1) X(over_data_1) X(by_table_1) X(circle) X(drops_arguments) X(looping)
#define DECLARE(name) extern "C" const char name[];
LABELS(DECLARE)

namespace {

CodeMemory& code() {
  static CodeMemory memory;
  memory.begin();
  return memory;
}

ReturnPath path_from(ReturnPaths& paths, const char* label) {
  return paths.find(reinterpret_cast<uint64_t>(label), 1, code());
}

ReturnPath path_from(const char* label) {
  static ReturnPaths paths;
  paths = {};
  return path_from(paths, label);
}

bool is_at(const StackLocation& location, Base base, int64_t bytes) {
  return location.base == base && location.bytes == bytes;
}

}  // namespace

TEST_CASE("the return address lies above what the function pops") {
  CHECK(is_at(path_from(looping_1).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(looping_2).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(looping_3).return_address, Base::StackPointer, 0x10));
  CHECK(is_at(path_from(looping_4).return_address, Base::StackPointer, 0));
  CHECK(is_at(path_from(looping_1).frame_pointer, Base::StackPointer, 0x20));
  CHECK(path_from(looping_4).frame_pointer.base == Base::None);
  // At the entry, rbp is still the caller's.
  CHECK(is_at(path_from(looping).return_address, Base::StackPointer, 0));
  CHECK(path_from(looping).frame_pointer.base == Base::None);
}

TEST_CASE("a stack pointer that was saved, or that a register has, leads to it as well") {
  const ReturnPath saved = path_from(realigned_1);
  CHECK(is_at(saved.return_address, Base::Saved, 0));
  CHECK(saved.return_address.saved == 0xc0);
  CHECK(is_at(path_from(realigned_2).return_address, Base::StackPointer, 0));
  const ReturnPath framed = path_from(framed_1);
  CHECK(is_at(framed.return_address, Base::Register, 8));
  CHECK(framed.return_address.reg == 5);
  CHECK(is_at(framed.frame_pointer, Base::Register, 0));
  CHECK(is_at(path_from(framed_2).return_address, Base::StackPointer, 8));
  const ReturnPath by_leave = path_from(left);
  CHECK(is_at(by_leave.return_address, Base::Register, 8));
  CHECK(is_at(by_leave.frame_pointer, Base::Register, 0));
}

TEST_CASE("jumps and branches are followed where the function goes") {
  CHECK(is_at(path_from(endless_1).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(endless_2).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(by_shared_end_1).return_address, Base::StackPointer, 8));
  CHECK(is_at(path_from(over_data_1).return_address, Base::StackPointer, 8));
}

TEST_CASE("what cannot be followed has no answer") {
  CHECK(path_from(by_table_1).return_address.base == Base::None);
  CHECK(path_from(circle).return_address.base == Base::None);
  CHECK(path_from(drops_arguments).return_address.base == Base::None);
}

TEST_CASE("answers are kept for the code up to where the stack pointer moves, until modules change") {
  static ReturnPaths paths;
  paths = {};
  CHECK(is_at(path_from(paths, looping_2).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(paths, looping_1).return_address, Base::StackPointer, 0x28));
  CHECK(is_at(path_from(paths, looping_3).return_address, Base::StackPointer, 0x10));
  CHECK(is_at(path_from(paths, looping_2).return_address, Base::StackPointer, 0x28));
  CodeMemory none;
  none.begin();
  paths.find(reinterpret_cast<uint64_t>(looping_1), 1, none);
  CHECK(none.reads() == 0);
  paths.find(reinterpret_cast<uint64_t>(looping_1), 2, none);
  CHECK(none.reads() > 0);
}

TEST_CASE("bytes that are no instruction have no effect that is known") {
  StackEffect effect;
  const uint8_t invalid[] = {0x06, 0x06};
  CHECK_FALSE(decode_stack_effect(invalid, sizeof invalid, 0, effect));
  const uint8_t cut[] = {0x48, 0x81};
  CHECK_FALSE(decode_stack_effect(cut, sizeof cut, 0, effect));
  const uint8_t pop_rsp[] = {0x5c};
  REQUIRE(decode_stack_effect(pop_rsp, sizeof pop_rsp, 0, effect));
  CHECK(effect.kind == StackEffect::Kind::Unknown);
  const uint8_t align[] = {0x48, 0x83, 0xe4, 0xc0};
  REQUIRE(decode_stack_effect(align, sizeof align, 0, effect));
  CHECK(effect.kind == StackEffect::Kind::Unknown);
}
