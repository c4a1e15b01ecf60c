#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof version`: what was built, and with what.
void add_version_command(CLI::App& app, int& status);

}  // namespace prof
