#pragma once
// Finds the instructions of a module that are recognisably atomic: those with a LOCK prefix, and exchanges.
// Other atomic operations of C++ cannot be recognised in a binary: atomic loads and stores are plain
// instructions (TMI, section 3.4.2). A module without such instructions has no atomic read-modify-write
// operations. A module with some may use them for any memory.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct AtomicCode {
  uint64_t count = 0;
  uint64_t first = 0;        // address, if there are any
  uint64_t undecodable = 0;  // bytes that are not instructions: data between functions
};

// Calls found(address) for each of those instructions in order. `code` is `bytes` long, begins with an
// instruction, and is executed at `address`. Data between functions may be decoded as instructions that do
// not exist; decoding is back in step a few instructions after such data. Takes about 20 ns per instruction.
// Async-signal-safe.
using AtomicFound = void (*)(uint64_t address, void* argument);
AtomicCode find_atomic_code(const uint8_t* code, size_t bytes, uint64_t address, AtomicFound found = nullptr,
                            void* argument = nullptr) noexcept;

}  // namespace hpcrun
