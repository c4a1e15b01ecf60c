#pragma once
// Bytes, such as those of build ids, as hexadecimal digits.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace prof {

// Small letters, two digits a byte.
std::string hex(std::span<const uint8_t> bytes);

// Empty where the text is anything but that; capitals are taken, too.
std::vector<uint8_t> bytes_of_hex(std::string_view text);

}  // namespace prof
