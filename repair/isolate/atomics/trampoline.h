#pragma once
// The code to which a jump leads that replaces an instruction of the program (atomic_sites.h). It changes no
// flag, no register and nothing on the program's stack, its red zone included, except as the instruction
// itself does.
//
// For an atomic instruction. In a thread without private pages it costs one load and one branch:
//
//   movb $1, %fs:at_site            no page is isolated from here on
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
  uint8_t copies[2] = {};              // offsets of the instruction's copies in the trampoline
  uint8_t bit_register = kNoRegister;  // for bts and similar, which count bits from the operand's address
  MemoryOperand operand;
};

// The operands of trampolines: code, and thread-local variables by their offsets from the segment base.
struct TrampolineTargets {
  int32_t own_pages = 0;
  int32_t at_site = 0;
  uint64_t slow_path = 0;
};

// An instruction at its place in the program.
struct PlacedCode {
  const uint8_t* code = nullptr;
  uint64_t address = 0;
  Instruction decoded;
};

size_t atomic_trampoline_bytes(uint8_t length) noexcept;
// Writes the trampoline to site.trampoline, which must be writable. `site` must never move.
void write_atomic_trampoline(AtomicSite& site, const PlacedCode& instruction,
                             const TrampolineTargets& targets) noexcept;

// Returns the program's position for a thread that is about to execute the code `offset` bytes into the
// site's trampoline, or returns there: before or after the instruction. `stack_bytes`: by how much the stack
// pointer is lower in the trampoline.
struct TrampolinePosition {
  bool is_behind = false;
  uint64_t stack_bytes = 0;
};
TrampolinePosition position_in_trampoline(const AtomicSite& site, uint64_t offset) noexcept;

// Instructions that only make room for a jump are executed elsewhere, followed by a jump back. Some cannot be
// moved, above all calls.
bool can_be_moved(const PlacedCode& instruction) noexcept;
size_t moved_bytes(const PlacedCode& instruction) noexcept;
void write_moved(uint64_t to, const PlacedCode& instruction) noexcept;

// Returns the addresses from which the instruction's place, and all that it refers to relative to itself, can
// be reached.
PlaceRange reach_of(const PlacedCode& instruction) noexcept;

}  // namespace hpcrun
