#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace prof {

std::string short_version();  // "prof 0.1.0 (1ec50c4), GCC 12.2.0"

// `prof version`: what was built, and with what.
void add_version_command(CLI::App& app, int& status);

}  // namespace prof
