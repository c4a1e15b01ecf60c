#pragma once
// Options that take one of a few names, or a number in a range. CLI11's own validators append numbers to the
// names, and accept nan.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/words/nearest_name.h"

namespace prof {

// Converts a name to its enum value. Any other text is an error that suggests the nearest name, or lists them
// all. The validator's description, "one|other", appears in help texts and completion
// (prof/command_line/description.cpp).
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
      listed += (listed.empty() ? "" : "|") + entry.first;
      known.push_back(entry.first);
    }
    const std::string wrong = std::exchange(text, {});
    const std::string meant = did_you_mean(wrong, known);
    return "'" + wrong + (meant.empty() ? "' is not one of: " + listed : "' is unknown" + meant);
  };
  std::string description;
  for (const auto& entry : names) description += (description.empty() ? "" : "|") + entry.first;
  return CLI::Validator(look_up, description);
}

// Accepts a number from low to high.
template <typename Number>
CLI::Validator within(Number low, Number high) {
  auto check = [low, high](std::string& text) -> std::string {
    Number value{};
    // Written so that nan is out of range, too.
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
    return fmt::format("'{}' is not a number from {} to {}", text, low, high);
  };
  return CLI::Validator(check, "");
}

}  // namespace prof
