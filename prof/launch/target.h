#pragma once
// What kind of program is about to be run: can a preloaded runtime measure it?

#include <filesystem>
#include <string>

#include "hpcrun/guest/program_file.h"

namespace prof {

struct Target {
  std::filesystem::path path;   // of the file that execvp would run
  std::filesystem::path image;  // of the ELF file that this leads to through interpreter lines, if any
  hpcrun::ProgramKind kind = hpcrun::ProgramKind::Unreadable;  // of that file

  // Can it be sampled from outside only?
  bool needs_outside() const { return hpcrun::needs_outside_sampling(kind); }
};

// Returns why programs of a kind that needs_outside_sampling() cannot be measured from inside: a phrase that
// follows "it is" or a colon.
const char* reason_outside(hpcrun::ProgramKind kind);

// Finds the program as execvp does and looks at it, through the interpreter lines of scripts. Throws
// CommandError: 127 not found, 126 not executable, 125 when it runs but cannot be measured, with the remedy.
Target find_target(const std::string& program);

}  // namespace prof
