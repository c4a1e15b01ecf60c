#pragma once
// Code that stands for code of the program's elsewhere, without call frame information (the trampolines of
// repair/isolate): walks go on from where the thread would be.

#include <atomic>
#include <cstdint>

namespace hpcrun {

// For an address in such code, of an instruction that is executed next or that a call returns to, changes it
// and the stack pointer to what they would be in the program's own, and is true. Async-signal-safe.
using LeaveMovedCode = bool(uint64_t& pc, uint64_t& sp) noexcept;

// nullptr: there is none.
extern constinit std::atomic<LeaveMovedCode*> leave_moved_code;

}  // namespace hpcrun
