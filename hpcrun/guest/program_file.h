#pragma once
// Determines the kind of program in an executable file, which decides whether a preloaded runtime can work in
// it. The runtime checks its own program and `prof` the one it starts, so that exactly one of them measures a
// process. Raw system calls and two kilobytes of stack; async-signal-safe.

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
  Sanitized,  // a sanitizer (address, thread, memory, leak) intercepts the C library and must be loaded first
  Go,         // its runtime handles signals by raw system call and would be killed by ours
  Dynamic,    // the runtime can work in it
};

// True for the kinds that use external sampling, with perf events that `prof` reads.
[[nodiscard]] constexpr bool needs_outside_sampling(ProgramKind kind) noexcept {
  return kind == ProgramKind::Static || kind == ProgramKind::OtherLibc || kind == ProgramKind::Sanitized ||
         kind == ProgramKind::Go;
}

// True for the kinds that fail if the runtime is preloaded: their loader cannot load it, or a sanitizer
// detects it.
[[nodiscard]] constexpr bool fails_with_runtime(ProgramKind kind) noexcept {
  return kind == ProgramKind::Foreign || kind == ProgramKind::OtherLibc || kind == ProgramKind::Sanitized;
}

// Determines the kind of a program. Go programs, static or not, have a section .go.buildinfo, which `strip`
// keeps. Other C libraries are recognized by the interpreter's name, and sanitizers by names among the
// dynamic symbols.
ProgramKind program_kind(const char* path) noexcept;

// Reads the interpreter named in a script's first line ("#!"). Returns false if the file is not a script.
[[nodiscard]] bool script_interpreter(const char* path, char* interpreter, size_t bytes) noexcept;

}  // namespace hpcrun
