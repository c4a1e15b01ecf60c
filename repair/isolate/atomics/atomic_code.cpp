#include "repair/isolate/atomics/atomic_code.h"

#include "hpcrun/model/instruction.h"

namespace hpcrun {

AtomicCode find_atomic_code(const uint8_t* code, size_t bytes, uint64_t address, AtomicFound found,
                            void* argument) noexcept {
  AtomicCode all;
  for (size_t at = 0; at < bytes;) {
    Instruction instruction;
    const size_t left = bytes - at;
    if (!decode(code + at, left < kMaxInstructionBytes ? left : kMaxInstructionBytes, address + at,
                instruction)) {
      ++all.undecodable;
      ++at;
      continue;
    }
    if (instruction.is_locked) {
      if (all.count++ == 0) all.first = address + at;
      if (found) found(address + at, argument);
    }
    at += instruction.length;
  }
  return all;
}

}  // namespace hpcrun
