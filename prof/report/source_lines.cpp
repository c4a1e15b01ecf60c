#include "prof/report/source_lines.h"

#include <sstream>

#include "analysis/database/format.h"
#include "analysis/database/input.h"
#include "prof/message.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestSource = 64u << 20;  // held in memory; what nobody wrote is larger

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

std::string SourceLines::text_of(const SourceFile& file) const {
  const fs::path path = fs::path(file.path).lexically_normal();
  if (!path.is_absolute()) return {};
  std::vector<fs::path> places = {path};
  if (file.copied) {
    const fs::path copy = fs::path(format::kSourceFolder) / path.relative_path();
    places.insert(places.begin(), {path_ / copy, path_ / "database" / copy});
  }
  for (const fs::path& place : places) {
    try {
      return read_text_file(place, kLargestSource);
    } catch (const DatabaseError&) {
      continue;  // gone, or not for us
    }
  }
  return {};
}

std::string SourceLines::line(const Place& place) {
  if (place.file >= database_.files.size() || place.line == 0) return {};
  const auto [at, is_new] = lines_of_file_.try_emplace(place.file);
  if (is_new) at->second = lines_of(text_of(database_.files[place.file]));
  return place.line <= at->second.size() ? at->second[place.line - 1] : std::string();
}

}  // namespace prof
