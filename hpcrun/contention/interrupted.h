#pragma once
// Reads the registers and the memory of the interrupted thread, for access plans. Async-signal-safe.

#include <ucontext.h>

#include <algorithm>
#include <cstdint>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/model/access_plan.h"

namespace hpcrun {

inline MachineState machine_state_of(const ucontext_t& context) noexcept {
  const greg_t* const registers = context.uc_mcontext.gregs;
  constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                            REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  MachineState state{};
  for (uint8_t i = 0; i < kGeneralRegisters; ++i)
    state.general[i] = static_cast<uint64_t>(registers[kOrder[i]]);
  state.fs_base = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  return state;
}

// Reads up to the end of the page, and further if the next page exists.
inline size_t read_program_memory(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  constexpr uint64_t kPageMask = 4095;
  const size_t in_page = std::min<size_t>(bytes, kPageMask + 1 - (address & kPageMask));
  if (!safe_read(address, to, in_page)) return 0;
  if (in_page == bytes) return bytes;
  return safe_read(address + in_page, static_cast<char*>(to) + in_page, bytes - in_page) ? bytes : in_page;
}

}  // namespace hpcrun
