#include "analysis/database/utf8.h"

#include <algorithm>
#include <cstdint>

namespace prof {

// Unicode 15, table 3-7.
size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0}; };
  const auto continues = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      if (byte(i) < 0x80 || byte(i) > 0xbf) return false;
    }
    return true;
  };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1, 2) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const bool second = !(lead == 0xe0 && byte(1) < 0xa0) && !(lead == 0xed && byte(1) > 0x9f);
    return second && continues(1, 3) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const bool second = !(lead == 0xf0 && byte(1) < 0x90) && !(lead == 0xf4 && byte(1) > 0x8f);
    return second && continues(1, 4) ? 4 : 0;
  }
  return 0;
}

std::string valid_utf8(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })) {
    return std::string(text);
  }
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_sequence_length(text);
    if (length == 0) {
      result += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

}  // namespace prof
