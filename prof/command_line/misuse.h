#pragma once
// CLI11's errors in our form: one line with the remedy, and the nearest name for a misspelt one.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace prof {

// Why a value was refused, without the option's name; empty where the error is about something else.
std::string words_for_value(const CLI::Option& option, const CLI::ParseError& error);

// "; did you mean NAME?", or where none is near ": one of ONE, OTHER, ...".
std::string nearest_or_all(const std::string& word, const std::vector<std::string>& names);

std::string words_for_misuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace prof
