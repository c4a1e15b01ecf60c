#pragma once
// Text for terminals: emphasis, colours, and wrapping to the width.

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace prof {

struct TextStyle {
  bool colour = false;
  size_t columns = 0;  // 0: no limit
};

// True for a terminal that is not dumb, unless NO_COLOR is set to a non-empty value.
bool wants_colour(std::FILE* out);

std::string bold(const TextStyle& style, const std::string& text);
// Returns the text in red for a share of at least one half, and in yellow for at least a tenth. Without
// colour the text stays plain.
std::string heat(const TextStyle& style, double share, const std::string& text);

// Returns the columns of the terminal that `out` is, at least 60, because nothing readable fits into less. 0
// if `out` is not a terminal.
size_t terminal_columns(std::FILE* out);

// Breaks text at blanks into lines of at most `columns` (0: no limit). A longer word stays whole.
std::vector<std::string> wrap(const std::string& text, size_t columns);

// Wraps the text after `lead`, and indents further lines by as much. Each line ends in "\n". The text may be
// anything: control sequences are made printable.
std::string wrapped_behind(const std::string& lead, const std::string& text, const TextStyle& style);

// Returns a row of a table whose last column is `text`, which is never truncated. If the line is too long,
// the text is wrapped below itself, or onto lines of its own if `lead` leaves little room. Ends in "\n".
std::string row_ending_in(const std::string& lead, const std::string& text, const TextStyle& style);

// Shortens text to `columns` (0: no limit); the end of a longer text becomes "...".
std::string shorten_end(const std::string& text, size_t columns);

}  // namespace prof
