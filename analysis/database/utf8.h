#pragma once
// Names come from debug information and from files of any origin; what we print as JSON must be UTF-8.

#include <string>
#include <string_view>

namespace prof {

// The text with each byte that is no part of a well-formed UTF-8 sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace prof
