#pragma once
// `prof doctor`: reports what can be measured here, what cannot, and how to change that.

#include <CLI/CLI.hpp>

namespace prof {

// The exit status is 0 if a CPUTIME profile can be made (of the program, if one is named), and 1 if not.
void add_doctor_command(CLI::App& app, int& status);

}  // namespace prof
