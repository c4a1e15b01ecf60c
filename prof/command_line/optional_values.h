#pragma once
// Options whose value may be left out: `--repair` stands for `--repair=layout,locks`. What follows such an
// option as a word of its own is never its value, which CLI11 would take it for.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace prof {

// Says what a long option of a command stands for where it has no value.
void make_value_optional(CLI::Option& option, const std::string& value);

// Empty for options that need their value, or have none.
std::string value_left_out(const CLI::Option& option);

// The words of a command line, the program's own name first, with such values put in.
std::vector<std::string> with_values_left_out(const CLI::App& root, int argc, const char* const* argv);

}  // namespace prof
