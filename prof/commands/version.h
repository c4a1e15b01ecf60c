#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// `prof version`: prints the version, and what prof was built with.
void add_version_command(CLI::App& app, int& status);

}  // namespace prof
