#include "analysis/findings/finding_id.h"

#include <fmt/format.h>

namespace prof {
namespace {

constexpr size_t kMaxNameLetters = 40;

// FNV-1a, 32 bits: enough for the findings of one kind in one run.
uint32_t checksum(std::string_view text) {
  uint32_t sum = 0x811c9dc5;
  for (const char c : text) sum = (sum ^ static_cast<uint8_t>(c)) * 0x01000193;
  return sum;
}

// "Net::stats[2]" -> "net-stats-2"
std::string slug(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_letter || is_capital)
      text += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!text.empty() && text.back() != '-')
      text += '-';
    if (text.size() == kMaxNameLetters) break;
  }
  while (text.ends_with('-')) text.pop_back();
  return text;
}

}  // namespace

std::string finding_id(FindingKind kind, std::string_view name, std::string_view identity) {
  std::string id(name_of(kind));
  if (const std::string of = slug(name); !of.empty()) id += "-" + of;
  return fmt::format("{}-{:08x}", id, checksum(identity));
}

std::string finding_id(FindingKind kind, const std::vector<CodeFrame>& frames) {
  return finding_id(kind, frames.empty() ? std::string() : frames.front().function, identity_of(frames));
}

std::string identity_of(const std::vector<CodeFrame>& frames) {
  std::string identity;
  for (const CodeFrame& frame : frames) identity += fmt::format("{}:{}\n", frame.function, frame.line);
  return identity;
}

}  // namespace prof
