#pragma once
// What kind of program an executable file is: whether a preloaded runtime can work in it. The runtime asks it
// about its own program and `prof` about the one it starts, so that exactly one of them measures a process.
// Raw system calls and a kilobyte of stack; async-signal-safe.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

enum class ProgramKind : uint8_t {
  Unreadable,  // no such file, or no permission to read it
  NotElf,      // a script, for instance
  Foreign,     // ELF of another machine, 32-bit x86 included
  Static,      // no interpreter: nothing can be preloaded
  Go,          // its runtime handles signals by raw system call and would be killed by ours
  Dynamic,
};

// A Go program is told by its section .go.buildinfo (which `strip` keeps), whether it is static or not.
ProgramKind program_kind(const char* path) noexcept;

// The interpreter that a script's first line ("#!") names; false where the file is no script.
bool script_interpreter(const char* path, char* interpreter, size_t bytes) noexcept;

}  // namespace hpcrun
