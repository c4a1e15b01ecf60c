#include "prof/base/message.h"

#include <cstdint>
#include <cstdio>

#include "analysis/database/utf8.h"

namespace prof {

namespace {
bool quiet = false;
std::string speaker;  // followed by ": ", or empty
}  // namespace

namespace {

uint32_t code_point(std::string_view sequence) {
  const auto lead = static_cast<uint8_t>(sequence[0]);
  uint32_t code = sequence.size() == 1 ? lead : lead & (0x7Fu >> sequence.size());
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<uint8_t>(c) & 0x3Fu);
  return code;
}

// True for C0 and C1 controls, which terminals execute, and for characters that reorder the text around them.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = utf8_sequence_length(text);
    const uint32_t code = bytes == 0 ? static_cast<uint8_t>(text[0]) : code_point(text.substr(0, bytes));
    if (bytes == 1 && kept.find(text[0]) != kept.npos)
      result += text[0];
    else if (bytes == 1 && (text[0] == '\n' || text[0] == '\t' || text[0] == '\r'))
      result += ' ';
    else if (bytes == 0 || (bytes == 1 && is_control(code)))
      result += fmt::format("\\x{:02x}", code);
    else if (is_control(code))
      result += fmt::format("\\u{:04x}", code);
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "");
}

std::string printable_lines(std::string_view text) {
  return escaped(text, "\n\t\r");
}

void say_line(std::string_view line) {
  show_line("prof: " + speaker + std::string(line));
}

void show_line(std::string_view line) {
  std::fputs((printable(line) + '\n').c_str(), stderr);
}

void speak_as(std::string_view who) {
  speaker = std::string(who) + ": ";
}

void set_quiet(bool wanted) {
  quiet = wanted;
}

bool is_quiet() {
  return quiet;
}

void remark_line(std::string_view line) {
  if (!quiet) say_line(line);
}

}  // namespace prof
