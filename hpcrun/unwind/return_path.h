#pragma once
// Finds the return address of a function without unwind tables. Follows the instructions from the pc to a
// return, with the effect of each on rsp. Branches are not taken, unless the path ends in a loop or cannot be
// followed further. Thus every path that is followed is one that the function can take.
//
// All instructions before the first one that moves rsp have the same answer. Answers are kept for ranges of
// code, failures included, so a function is followed once and not at each sample. Zeroed memory is a valid
// empty cache. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/code_memory.h"

namespace hpcrun {

// An address in the stack: `bytes` above a base. The base is rsp at the pc, the value saved `saved` bytes
// above rsp, or another register at the pc.
struct StackLocation {
  enum class Base : uint8_t { None, StackPointer, Saved, Register } base = Base::None;
  uint8_t reg = 0;  // its x86 number
  int64_t saved = 0;
  int64_t bytes = 0;

  bool operator==(const StackLocation&) const = default;
};

struct ReturnPath {
  StackLocation return_address;  // Base::None: unknown
  StackLocation frame_pointer;   // the caller's saved rbp; Base::None: still in rbp
};

class ReturnPaths {
 public:
  // Finds the path from the pc. `generation` changes with the load modules; answers of other generations are
  // discarded.
  ReturnPath find(uint64_t pc, uint64_t generation, CodeMemory& code) noexcept;

 private:
  static constexpr unsigned kRanges = 32;

  struct Range {
    uint64_t begin;
    uint64_t last;  // the instruction that moves the stack pointer, or returns; 0: unused range
    ReturnPath path;
  };

  void keep(uint64_t pc, uint64_t last, const ReturnPath& path) noexcept;

  uint64_t generation_;
  unsigned next_;  // the range to replace next
  Range ranges_[kRanges];
};

}  // namespace hpcrun
