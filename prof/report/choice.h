#pragma once
// An option that takes one of a few names. CLI11's own transformers print the numbers behind the names.

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <utility>

namespace prof {

// Turns a name into the number of its enum value; any other text is an error that lists the names.
template <typename Enum>
CLI::Validator choice(const std::map<std::string, Enum>& names) {
  auto look_up = [&names](std::string& text) -> std::string {
    const auto found = names.find(text);
    if (found != names.end()) {
      text = std::to_string(static_cast<int>(found->second));
      return {};
    }
    std::string known;
    for (const auto& entry : names) known += (known.empty() ? "" : ", ") + entry.first;
    return "'" + std::exchange(text, {}) + "' is none of: " + known;
  };
  return CLI::Validator(look_up, "");
}

}  // namespace prof
