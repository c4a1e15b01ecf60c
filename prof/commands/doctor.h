#pragma once
// `prof doctor`: what can be measured here, what cannot, and what would change it.

#include <CLI/CLI.hpp>

namespace prof {

// Exit status 0 when a CPUTIME profile can be made (of the program, where one is named), 1 when it cannot.
void add_doctor_command(CLI::App& app, int& status);

}  // namespace prof
