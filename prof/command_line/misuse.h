#pragma once
// CLI11's errors in our form: one line with the remedy, and the nearest name for a misspelt one.

#include <CLI/CLI.hpp>
#include <string>

namespace prof {

std::string words_for_misuse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace prof
