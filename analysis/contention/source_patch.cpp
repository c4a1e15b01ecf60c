#include "analysis/contention/source_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "analysis/run/spelling.h"

namespace prof {
namespace {

using Change = ContendedRecord::Change;

constexpr size_t kContextLines = 3;
constexpr const char* kOther = "does not look like its declaration";

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Returns the line with comments and quoted text replaced by blanks.
std::string code_of(const std::string& line) {
  std::string code = line;
  for (size_t i = 0; i < code.size(); ++i) {
    if (code.compare(i, 2, "//") == 0) {
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(i), code.end(), ' ');
    } else if (code.compare(i, 2, "/*") == 0) {
      const size_t end = std::min(code.find("*/", i + 2), code.size());
      for (; i < std::min(end + 2, code.size()); ++i) code[i] = ' ';
      --i;
    } else if (code[i] == '"' || (code[i] == '\'' && (i == 0 || !is_letter(code[i - 1])))) {
      const char quote = code[i];
      for (++i; i < code.size() && code[i] != quote; ++i) {
        if (code[i] == '\\' && i + 1 < code.size()) code[i++] = ' ';
        code[i] = ' ';
      }
    }
  }
  return code;
}

size_t next_code(std::string_view code, size_t at) {
  return std::min(code.find_first_not_of(" \t\r", at), code.size());
}

// Finds a word from `from` on; returns npos if there is none.
size_t find_word(std::string_view code, std::string_view word, size_t from) {
  for (size_t at = code.find(word, from); at != code.npos; at = code.find(word, at + 1)) {
    const bool begins = at == 0 || !is_letter(code[at - 1]);
    const bool ends = at + word.size() == code.size() || !is_letter(code[at + word.size()]);
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

// Finds a name where it is declared: followed by an initializer, bounds, the width of a bit field, or the
// end.
size_t find_declared(std::string_view code, std::string_view name) {
  for (size_t at = find_word(code, name, 0); at != code.npos; at = find_word(code, name, at + 1)) {
    const size_t next = next_code(code, at + name.size());
    const bool is_member_of = at > 0 && (code[at - 1] == '.' || code[at - 1] == '>');
    if (!is_member_of && (next == code.size() || std::string_view(";,=[{:").find(code[next]) != code.npos))
      return at;
  }
  return std::string_view::npos;
}

// "net::Stats<int>" -> "Stats", "struct Stats" -> "Stats"
std::string last_name(const std::string& name) {
  std::string plain = name.substr(0, name.find('<'));
  for (const std::string_view separator : {"::", " "})
    if (const size_t at = plain.rfind(separator); at != plain.npos)
      plain = plain.substr(at + separator.size());
  return plain;
}

// Returns where the statement that contains `end` begins in its line.
size_t begin_of_statement(std::string_view code, size_t end) {
  size_t begin = 0;
  for (size_t i = 0; i < end; ++i) {
    const bool is_label =
        code[i] == ':' && (i + 1 == code.size() || code[i + 1] != ':') && i > 0 && code[i - 1] != ':';
    if (is_label || std::string_view(";{}").find(code[i]) != code.npos) begin = i + 1;
  }
  return next_code(code, begin);
}

// True if there is a comma outside of brackets.
bool has_comma(std::string_view code) {
  int depth = 0;
  for (const char c : code) {
    if (std::string_view("<([{").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(">)]}").find(c) != std::string_view::npos) --depth;
    if (c == ',' && depth <= 0) return true;
    if (c == ';' && depth <= 0) return false;
  }
  return false;
}

// True if a ':' follows the member's name, which ends at `at`.
bool is_bit_field(std::string_view code, size_t at) {
  const size_t next = next_code(code, at);
  return next < code.size() && code[next] == ':';
}

bool begins_with_word(std::string_view code, size_t at, std::string_view word) {
  return find_word(code, word, at) == at;
}

}  // namespace

SourcePatch::SourcePatch(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines_.push_back(text.substr(at, end - at));
    ends_line_ = end < text.size();
    at = end + 1;
  }
  before_ = lines_;
}

void SourcePatch::insert(size_t line, size_t column, const std::string& text) {
  lines_[line].insert(column, text);
  changed_.insert(line);
}

// True if the line continues a statement of an earlier one.
bool SourcePatch::begins_behind_another(size_t line) const {
  while (line-- > 0) {
    const std::string code = code_of(lines_[line]);
    const size_t last = code.find_last_not_of(" \t\r");
    if (last == code.npos) continue;  // blank, or a comment
    return code[next_code(code, 0)] != '#' &&
           std::string_view(";{}:").find(code[last]) == std::string_view::npos;
  }
  return false;
}

std::string SourcePatch::put_before_declaration(size_t line, const Change& change) {
  const std::string code = code_of(lines_[line]);
  const std::string name = last_name(change.name);
  const size_t at = name.empty() ? code.npos : find_declared(code, name);
  if (at == code.npos) return kOther;
  const size_t begin = begin_of_statement(code, at);
  for (const char* const word : {"typedef", "using", "extern", "template", "return"})
    if (begins_with_word(code, begin, word)) return kOther;
  if (is_bit_field(code, at + name.size())) return "declares a bit field, which cannot be aligned";
  if (begin == at) return "has the declared name, but its type is elsewhere";
  if (next_code(code, 0) == begin && begins_behind_another(line)) return "continues the previous line";
  if (has_comma(std::string_view(code).substr(begin))) return "declares several names at once";
  insert(line, begin, change.text + " ");
  return {};
}

std::string SourcePatch::put_on_type(size_t line, const Change& change) {
  const std::string code = code_of(lines_[line]);
  const std::string name = change.type == "?" ? "" : last_name(change.type);
  for (const char* const keyword : {"struct", "class", "union"}) {
    const size_t at = find_word(code, keyword, 0);
    if (at == code.npos) continue;
    const size_t behind = at + std::string_view(keyword).size();
    const size_t named = name.empty() ? behind : find_word(code, name, behind);
    if (named == code.npos) continue;
    // A definition, not a mention: a '{' comes before the next ';', on the next line at the latest.
    std::string rest = code.substr(named + name.size());
    if (line + 1 < lines_.size()) rest += "\n" + code_of(lines_[line + 1]);
    if (rest.find('{') > rest.find(';') || rest.find('{') == rest.npos) continue;
    insert(line, behind, " " + change.text);
    return {};
  }
  return "does not look like the definition of a struct";
}

std::string SourcePatch::make(const Change& change) {
  if (change.what == ChangedPart::Elements)
    return "has elements that must be wrapped in a struct, and code that uses them must name its member";
  if (change.line == 0 || change.line > lines_.size()) return "does not exist";
  const std::string key = fmt::format("{} {} {}", change.line, name_of(change.what), change.name);
  if (made_.contains(key)) return {};
  const size_t line = change.line - 1;
  std::string why =
      change.what == ChangedPart::Type ? put_on_type(line, change) : put_before_declaration(line, change);
  if (why.empty()) made_.insert(key);
  return why;
}

std::string SourcePatch::diff(const std::string& name) const {
  if (changed_.empty()) return {};
  std::string text = fmt::format("--- {0}\n+++ {0}\n", name);
  const auto put = [&](char mark, const std::string& line, size_t number) {
    text += mark + line + "\n";
    if (number + 1 == lines_.size() && !ends_line_) text += "\\ No newline at end of file\n";
  };
  for (auto first = changed_.begin(); first != changed_.end();) {
    // Changes with overlapping contexts become one hunk.
    auto last = first;
    while (std::next(last) != changed_.end() && *std::next(last) - *last <= 2 * kContextLines) ++last;
    const size_t begin = *first - std::min(*first, kContextLines);
    const size_t end = std::min(*last + kContextLines + 1, lines_.size());
    text += fmt::format("@@ -{0},{1} +{0},{1} @@\n", begin + 1, end - begin);
    for (size_t line = begin; line < end; ++line) {
      if (!changed_.contains(line)) {
        put(' ', lines_[line], line);
        continue;
      }
      put('-', before_[line], line);
      put('+', lines_[line], line);
    }
    first = std::next(last);
  }
  return text;
}

}  // namespace prof
