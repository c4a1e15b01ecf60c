#pragma once
// Finds what a misspelt name was meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace prof {

// The name that a slip of the keyboard or two (a letter more, less, other or exchanged; one in three letters
// at most) turns into `word`, or the only one that begins with it; empty when there is none. Case is ignored.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

// "; did you mean NAME?", or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace prof
