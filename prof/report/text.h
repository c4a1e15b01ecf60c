#pragma once
// What the text reports share: numbers in columns, emphasis, wrapped lines.

#include <cstdio>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "prof/report/renderers.h"

namespace prof {

constexpr size_t kShareColumns = 8;  // " 100.0 %"

std::string words_for_value(const Metric& metric, double value);  // in a column, without unit
std::string words_for_total(const Metric& metric, double value);  // with unit

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

// "function,file,line" of the innermost frame, as CSV; empty fields where there is none.
std::string leaf_as_csv(const std::vector<FindingFrame>& frames);

// At most `columns` (0: no limit) wide: the end of a longer text becomes "...".
std::string shorten_end(const std::string& text, size_t columns);

}  // namespace prof
