#pragma once
// Options that take one of a few names, or a number in a range. CLI11's own validators print the numbers
// behind the names, and let nan pass.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/views/spelling.h"

namespace prof {

// Turns a name into the number of its enum value; any other text is an error that names the one that was
// meant, or lists them all. Its
// description, "one|other", is what help texts and completion show (prof/command_line/description.cpp).
template <typename Enum>
CLI::Validator choice(const std::map<std::string, Enum>& names) {
  auto look_up = [&names](std::string& text) -> std::string {
    const auto found = names.find(text);
    if (found != names.end()) {
      text = std::to_string(static_cast<int>(found->second));
      return {};
    }
    std::string listed;
    std::vector<std::string> known;
    for (const auto& entry : names) {
      listed += (listed.empty() ? "" : ", ") + entry.first;
      known.push_back(entry.first);
    }
    const std::string wrong = std::exchange(text, {});
    const std::string meant = did_you_mean(wrong, known);
    return "'" + wrong + (meant.empty() ? "' is none of: " + listed : "' is unknown" + meant);
  };
  std::string description;
  for (const auto& entry : names) description += (description.empty() ? "" : "|") + entry.first;
  return CLI::Validator(look_up, description);
}

// A number from low to high.
template <typename Number>
CLI::Validator within(Number low, Number high) {
  auto check = [low, high](std::string& text) -> std::string {
    Number value{};
    // So that what is not a number (nan) is outside as well.
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
    return fmt::format("'{}' is not a number from {} to {}", text, low, high);
  };
  return CLI::Validator(check, "");
}

}  // namespace prof
