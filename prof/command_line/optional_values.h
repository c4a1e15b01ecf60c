#pragma once
// Options whose value may be left out: `--repair` stands for `--repair=layout,locks`. A word that follows
// such an option is never its value, although CLI11 would take it as one.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace prof {

// Sets the value that a long option of a command stands for if it is given without one.
void make_value_optional(CLI::Option& option, const std::string& value);

// Returns that value; empty for options that need a value, or have none.
std::string value_left_out(const CLI::Option& option);

// Returns the words of a command line, the program's own name first, with such values inserted.
std::vector<std::string> with_values_left_out(const CLI::App& root, int argc, const char* const* argv);

}  // namespace prof
