#pragma once
#include <CLI/CLI.hpp>

namespace prof {

// -q, --quiet: nothing but errors, and results that were asked for.
void add_quiet_option(CLI::App& command);

}  // namespace prof
