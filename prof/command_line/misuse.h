#pragma once
// Turns CLI11's errors into prof's messages: one line with the remedy, and the nearest name for a misspelt
// one.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace prof {

// Returns why a value was refused, without the option's name; empty if the error is about something else.
std::string format_value(const CLI::Option& option, const CLI::ParseError& error);

// Returns "; did you mean NAME?", or ": one of ONE, OTHER, ..." if no name is near.
std::string nearest_or_all(const std::string& word, const std::vector<std::string>& names);

std::string format_misuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace prof
