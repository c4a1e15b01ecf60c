#pragma once
// Where the return address of a function without unwind tables lies: the instructions from the pc to a return
// are followed, with what each does to the stack pointer. Conditional branches are not taken, unless an
// endless loop leaves no other way; so each path that is followed is one that the function can take, and all
// of them find the return address in the same place.
//
// Every instruction before the first one that moves the stack pointer has the same answer. So that a function
// is followed once and not at each sample, answers are kept for ranges of code. Zeroed memory is a valid
// empty cache. Async-signal-safe.

#include <cstdint>

#include "hpcrun/unwind/code_memory.h"

namespace hpcrun {

// A place in the stack: an offset from rsp at the pc, from what is saved at an offset from it, or from
// another register at the pc.
struct StackPlace {
  enum class Base : uint8_t { None, StackPointer, Saved, Register } base = Base::None;
  uint8_t reg = 0;    // in the order of encoding
  int64_t saved = 0;  // where, from rsp
  int64_t bytes = 0;  // beyond the base's value

  bool operator==(const StackPlace&) const = default;
};

struct ReturnPath {
  StackPlace return_address;  // Base::None: it is not known
  StackPlace frame_pointer;   // of the caller's rbp; Base::None: rbp still has it
};

class ReturnPaths {
 public:
  // `generation`: changes with the load modules; answers of another one are forgotten.
  ReturnPath find(uint64_t pc, uint64_t generation, CodeMemory& code) noexcept;

 private:
  static constexpr unsigned kRanges = 32;

  struct Range {
    uint64_t begin;
    uint64_t last;  // the instruction that moves the stack pointer, or returns; 0: the range is not used
    ReturnPath path;
  };

  void keep(uint64_t pc, uint64_t last, const ReturnPath& path) noexcept;

  uint64_t generation_;
  unsigned next_;  // the range to replace
  Range ranges_[kRanges];
};

}  // namespace hpcrun
