#pragma once
// Converts bytes, such as build-ids, to hexadecimal digits and back.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

// Returns lower-case digits, two per byte.
std::string hex(std::span<const uint8_t> bytes);

// Returns an empty vector if the text is not hexadecimal. Accepts upper case too.
std::vector<uint8_t> bytes_of_hex(std::string_view text);

}  // namespace prof
