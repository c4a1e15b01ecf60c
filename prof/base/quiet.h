#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// Adds -q, --quiet, which leaves only errors and the requested results.
void add_quiet_option(CLI::App& command);

}  // namespace prof
