#include "prof/message.h"

#include <cstdio>

namespace prof {

namespace {
bool quiet = false;
std::string speaker;  // with ": " behind it, or empty
}  // namespace

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return result;
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
