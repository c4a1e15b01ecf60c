#pragma once
// Text for terminals: emphasis, colours, lines that are wrapped to the width.

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace prof {

struct TextStyle {
  bool colour = false;
  size_t columns = 0;  // 0: no limit
};

// True for a terminal that is not dumb, unless NO_COLOR is set to something.
bool wants_colour(std::FILE* out);

std::string bold(const TextStyle& style, const std::string& text);
// Red from a share of one half on, yellow from a tenth on; plain without colour.
std::string heat(const TextStyle& style, double share, const std::string& text);

// Columns of the terminal that `out` is, at least 60: nothing readable fits into less. 0 where it is none.
size_t terminal_columns(std::FILE* out);

// Lines of at most `columns` (0: no limit), broken at blanks; a longer word stays whole.
std::vector<std::string> wrap(const std::string& text, size_t columns);

// The text wrapped behind `lead`, further lines indented by as much; each line ends in "\n". The text may be
// anything: what terminals would take for commands is made printable.
std::string wrapped_behind(const std::string& lead, const std::string& text, const TextStyle& style);

// A row of a table whose last column is `text`, which is never cut: where the line is too long it is wrapped
// below itself, or where `lead` leaves little room for it on lines of its own. Ends in "\n".
std::string row_ending_in(const std::string& lead, const std::string& text, const TextStyle& style);

// At most `columns` (0: no limit) wide: the end of a longer text becomes "...".
std::string shorten_end(const std::string& text, size_t columns);

}  // namespace prof
