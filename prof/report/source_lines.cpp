#include "prof/report/source_lines.h"

#include <sstream>

#include "analysis/views/compare/source_text.h"
#include "prof/base/message.h"

namespace prof {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlanks = " \t\r\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(printable(trimmed(line)));
  return lines;
}

}  // namespace

std::string SourceLines::line(const SourceLocation& location) {
  if (location.file >= database_.files.size() || location.line == 0) return {};
  const auto [at, is_new] = lines_of_file_.try_emplace(location.file);
  if (is_new) at->second = lines_of(SourceText(path_, database_.files[location.file]).copy_or_file());
  return location.line <= at->second.size() ? at->second[location.line - 1] : std::string();
}

}  // namespace prof
