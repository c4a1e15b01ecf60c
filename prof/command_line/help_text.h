#pragma once
// Help as text, and the CLI11 formatter that makes `--help` print it.

#include <CLI/CLI.hpp>
#include <string>

#include "prof/command_line/description.h"

namespace prof {

// Returns text that ends with a newline. No line is longer than 100 columns unless a single word is.
std::string help_text(const CommandDescription& command);

// Makes --help and --help-all of this command and of all below it print help_text().
void use_help_text(CLI::App& app);

}  // namespace prof
