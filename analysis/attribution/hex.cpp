#include "analysis/attribution/hex.h"

#include <charconv>

namespace prof {

std::string hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::vector<uint8_t> bytes_of_hex(std::string_view text) {
  std::vector<uint8_t> bytes;
  if (text.size() % 2 != 0) return bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    if (std::from_chars(text.data() + i, end, byte, 16).ptr != end) return {};
    bytes.push_back(byte);
  }
  return bytes;
}

}  // namespace prof
