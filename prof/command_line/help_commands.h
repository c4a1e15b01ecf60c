#pragma once
// Commands about the command line itself: `prof help`, `prof completion`, `prof config`.

#include <CLI/CLI.hpp>

namespace prof {

void add_help_command(CLI::App& app, int& status);
void add_completion_command(CLI::App& app, int& status);
void add_config_command(CLI::App& app, int& status);

}  // namespace prof
