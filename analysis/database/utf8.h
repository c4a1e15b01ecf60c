#pragma once
// Validates UTF-8. Names come from debug information and from any files, but our JSON output must be UTF-8.

#include <string>
#include <string_view>

namespace prof {

// Returns the bytes of the well-formed UTF-8 sequence at the start of a text; 0 if there is none.
size_t utf8_sequence_length(std::string_view text);

// Replaces each byte that is not part of a well-formed UTF-8 sequence with U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace prof
