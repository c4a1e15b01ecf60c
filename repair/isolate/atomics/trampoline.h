#pragma once
// The code that instructions of the program are replaced by a jump to (atomic_sites.h). It changes no flag,
// no register and nothing of the program's stack, its red zone included, but what the instruction itself
// does.
//
// Of an atomic instruction, in a thread that has no private pages, which is one load and one branch:
//
//   movb $1, %fs:at_site            nobody isolates a page from here on
//   lea -128(%rsp), %rsp            the red zone
//   push %rcx
//   mov %fs:own_pages, %rcx
//   jrcxz 1f
//   ...                             before it and after it: hpcrun_at_atomic_site
// 1:pop %rcx
//   lea 128(%rsp), %rsp
//   the instruction
//   movb $0, %fs:at_site
//   jmp back

#include <cstddef>
#include <cstdint>

#include "hpcrun/model/instruction.h"
#include "repair/isolate/atomics/place_range.h"

namespace hpcrun {

struct AtomicSite {
  uint64_t address = 0;  // of the instruction
  uint64_t trampoline = 0;
  uint8_t length = 0;
  uint8_t copies[2] = {};              // where in the trampoline the instruction is
  uint8_t bit_register = kNoRegister;  // bts and its like: it counts bits from the operand's address on
  MemoryOperand operand;
};

// What trampolines refer to: offsets of thread-local variables from the segment's base, and code.
struct TrampolineTargets {
  int32_t own_pages = 0;
  int32_t at_site = 0;
  uint64_t slow_path = 0;
};

// An instruction where it is in the program.
struct PlacedCode {
  const uint8_t* code = nullptr;
  uint64_t address = 0;
  Instruction decoded;
};

size_t atomic_trampoline_bytes(uint8_t length) noexcept;
// Writes it to site.trampoline, which is writable; `site` stays where it is for good.
void write_atomic_trampoline(AtomicSite& site, const PlacedCode& instruction,
                             const TrampolineTargets& targets) noexcept;

// Where in the program a thread would be that is about to execute what lies `offset` bytes behind the site's
// trampoline, or returns there: before the instruction or behind it; and by how much the stack pointer is
// lower than there.
struct TrampolinePlace {
  bool is_behind = false;
  uint64_t stack_bytes = 0;
};
TrampolinePlace place_in_trampoline(const AtomicSite& site, uint64_t offset) noexcept;

// Instructions that only make room for a jump: executed elsewhere, and back. Some cannot be, calls above all.
bool can_be_moved(const PlacedCode& instruction) noexcept;
size_t moved_bytes(const PlacedCode& instruction) noexcept;
void write_moved(uint64_t to, const PlacedCode& instruction) noexcept;

// From where the instruction's place, and what it refers to relative to itself, can be reached.
PlaceRange reach_of(const PlacedCode& instruction) noexcept;

}  // namespace hpcrun
