#pragma once
// Completion scripts: subcommands, options, and values of every kind that ValueKind names.

#include <string>

#include "prof/command_line/description.h"

namespace prof {

// Each script completes the command `prof`; `root` is its description. Events and processes are asked for
// when the user completes.
std::string bash_completion(const CommandDescription& root);
std::string zsh_completion(const CommandDescription& root);
std::string fish_completion(const CommandDescription& root);

}  // namespace prof
