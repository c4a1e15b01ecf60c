#include "prof/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "analysis/words/numbers.h"
#include "prof/base/message.h"

namespace prof {

bool wants_colour(std::FILE* out) {
  const char* no_colour = getenv("NO_COLOR");
  const char* terminal = getenv("TERM");
  return isatty(fileno(out)) && !(no_colour && *no_colour) &&
         !(terminal && std::strcmp(terminal, "dumb") == 0);
}

std::string bold(const TextStyle& style, const std::string& text) {
  return style.colour ? "\033[1m" + text + "\033[0m" : text;
}

std::string heat(const TextStyle& style, double share, const std::string& text) {
  if (!style.colour || share < 0.1) return text;
  return (share >= 0.5 ? "\033[31m" : "\033[33m") + text + "\033[0m";
}

size_t terminal_columns(std::FILE* out) {
  constexpr size_t kMinColumns = 60;
  winsize size{};
  const int descriptor = fileno(out);
  if (descriptor < 0 || !isatty(descriptor) || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 0;
  return std::max<size_t>(size.ws_col, kMinColumns);
}

std::vector<std::string> wrap(const std::string& text, size_t columns) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    if (lines.back().empty()) {
      lines.back() = word;
    } else if (columns == 0 || columns_of(lines.back()) + 1 + columns_of(word) <= columns) {
      lines.back() += ' ' + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string wrapped_behind(const std::string& lead, const std::string& text, const TextStyle& style) {
  std::string all;
  std::string before = lead;
  for (const std::string& line :
       wrap(printable(text), style.columns == 0 ? 0 : style.columns - std::min(style.columns, lead.size()))) {
    all += before + line + "\n";
    before.assign(lead.size(), ' ');
  }
  return all;
}

std::string row_ending_in(const std::string& lead, const std::string& text, const TextStyle& style) {
  constexpr size_t kMinColumns = 40, kIndent = 10;
  const bool has_room = style.columns == 0 || columns_of(lead) + kMinColumns <= style.columns ||
                        columns_of(lead) + columns_of(text) <= style.columns;
  if (has_room) return wrapped_behind(lead, text, style);
  return lead.substr(0, lead.find_last_not_of(' ') + 1) + "\n" +
         wrapped_behind(std::string(kIndent, ' '), text, style);
}

std::string shorten_end(const std::string& text, size_t columns) {
  static constexpr std::string_view kEllipsis = "...";
  if (columns == 0 || columns_of(text) <= columns) return text;
  std::string_view kept = text;
  const size_t room = columns - std::min(columns, kEllipsis.size());
  while (columns_of(kept) > room) kept.remove_suffix(1);  // never splits a character
  return std::string(kept) + std::string(kEllipsis.substr(0, columns));
}

}  // namespace prof
