#pragma once
// Finds out what kind of program is about to run, and if a preloaded runtime can measure it.

#include <filesystem>
#include <string>

#include "hpcrun/guest/program_file.h"

namespace prof {

struct Target {
  std::filesystem::path path;   // the file that execvp would run
  std::filesystem::path image;  // the ELF file to which its interpreter lines lead, if any
  hpcrun::ProgramKind kind = hpcrun::ProgramKind::Unreadable;  // of `image`

  // True if it can only be sampled from outside.
  bool needs_outside() const { return hpcrun::needs_outside_sampling(kind); }
};

// Returns why programs of a kind that needs_outside_sampling() cannot be measured from inside: a phrase that
// follows "it is" or a colon.
const char* reason_outside(hpcrun::ProgramKind kind);

// Finds the program as execvp does, and examines it through the interpreter lines of scripts. Throws
// CommandError with the remedy: 127 not found, 126 not executable, 125 if it runs but cannot be measured.
Target find_target(const std::string& program);

}  // namespace prof
