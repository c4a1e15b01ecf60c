#pragma once
// Lets walks pass through code that replaces code of the program and has no call frame information (the
// trampolines of repair/isolate). A walk continues from the corresponding point in the program's own code.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// Takes an address in such code: the next instruction to execute, or a return address. Replaces it and the
// stack pointer by what they would be in the program's own code, and returns true. Returns false for any
// other address. Async-signal-safe.
using LeaveMovedCode = bool(uint64_t& pc, uint64_t& sp) noexcept;

// nullptr if there is no such code.
extern constinit std::atomic<LeaveMovedCode*> leave_moved_code;

}  // namespace hpcrun
