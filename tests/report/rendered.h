#pragma once
// Runs a report or an export and returns what it printed.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "prof/report/report_command.h"

namespace prof::test {

struct Rendered {
  int status;
  std::string text;
};

template <class Print>
Rendered rendered(Print&& print) {
  char* bytes = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&bytes, &size);
  const int status = print(out);
  std::fclose(out);
  Rendered result{status, std::string(bytes, size)};
  std::free(bytes);
  return result;
}

inline Rendered rendered(const Database& database, const ReportOptions& options, bool colour = false) {
  return rendered([&](std::FILE* out) { return report(database, options, out, colour); });
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string golden(const std::string& name) {
  return file_text(std::filesystem::path(PROF_SOURCE_DIR) / "tests/report/golden" / name);
}

// Returns the lines of a text without line ends.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace prof::test
