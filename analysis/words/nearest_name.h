#pragma once
// Finds the name that a misspelt one stands for.

#include <string>
#include <string_view>
#include <vector>

namespace prof {

// Returns the name that one or two typing errors (a letter more, less, other or exchanged; in one of three
// letters at most) turn into `word`, or the only name that begins with it. Returns an empty name if there is
// none. Ignores case.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

// Returns "; did you mean NAME?", or an empty text.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace prof
