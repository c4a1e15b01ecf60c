#pragma once
// Completion scripts: subcommands, options, and values of every ValueKind.

#include <string>

#include "prof/command_line/description.h"

namespace prof {

// Each returns a script that completes the command `prof`, described by `root`. Events and processes are
// listed when the user completes.
std::string bash_completion(const CommandDescription& root);
std::string zsh_completion(const CommandDescription& root);
std::string fish_completion(const CommandDescription& root);

}  // namespace prof
