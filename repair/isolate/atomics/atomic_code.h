#pragma once
// Which instructions of a module work on memory that others may access at the same moment, and say so: those
// with a LOCK prefix, and exchanges. They are what of C++'s atomic operations can be told from the binary
// (TMI, section 3.4.2: atomic loads and stores are plain instructions): a module that has none has no atomic
// read-modify-write operation either, while one that has some may use them for any memory.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct AtomicCode {
  uint64_t count = 0;
  uint64_t first = 0;        // address, where there are any
  uint64_t undecodable = 0;  // bytes that are no instructions: data between functions
};

// `code` is `bytes` long, executed at `address`, and begins with an instruction; found(address) is called for
// each of those instructions, in order. Data between functions can make it see some that are none; what
// follows such data is found again after a few instructions. Some 20 ns an instruction. Async-signal-safe.
using AtomicFound = void (*)(uint64_t address, void* argument);
AtomicCode find_atomic_code(const uint8_t* code, size_t bytes, uint64_t address, AtomicFound found = nullptr,
                            void* argument = nullptr) noexcept;

}  // namespace hpcrun
