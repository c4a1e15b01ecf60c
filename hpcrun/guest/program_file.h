#pragma once
// What kind of program an executable file is: whether a preloaded runtime can work in it. The runtime asks it
// about its own program and `prof` about the one it starts, so that exactly one of them measures a process.
// Raw system calls and a kilobyte of stack; async-signal-safe.

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/sanitizer_names.h"

namespace hpcrun {

enum class ProgramKind : uint8_t {
  Unreadable,  // no such file, or no permission to read it
  NotElf,      // a script, for instance
  Foreign,     // ELF of another machine, 32-bit x86 included
  Static,      // no interpreter: nothing can be preloaded
  OtherLibc,   // its loader is not glibc's (musl): the runtime cannot be loaded
  Sanitized,   // a sanitizer (address, thread, memory, leak) intercepts the C library and must come first
  Go,          // its runtime handles signals by raw system call and would be killed by ours
  Dynamic,     // the runtime can work in it
};

// True for the kinds that are sampled from outside, by perf events that `prof` reads.
constexpr bool needs_outside_sampling(ProgramKind kind) noexcept {
  return kind == ProgramKind::Static || kind == ProgramKind::OtherLibc || kind == ProgramKind::Sanitized ||
         kind == ProgramKind::Go;
}

// True for the kinds that fail if the runtime is preloaded: their loader cannot load it, or a sanitizer finds
// it.
constexpr bool fails_with_runtime(ProgramKind kind) noexcept {
  return kind == ProgramKind::Foreign || kind == ProgramKind::OtherLibc || kind == ProgramKind::Sanitized;
}

// Recognizes Go programs by their section .go.buildinfo (which `strip` keeps), whether static or not, other C
// libraries by the interpreter's name, and sanitizers by the names among the dynamic symbols.
ProgramKind program_kind(const char* path) noexcept;

// The interpreter that a script's first line ("#!") names; false where the file is no script.
bool script_interpreter(const char* path, char* interpreter, size_t bytes) noexcept;

}  // namespace hpcrun
