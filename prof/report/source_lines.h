#pragma once
// The text of source lines, shown next to their costs.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/tree/source_locations.h"

namespace prof {

class SourceLines {
 public:
  // `path` is that of the database, or of the measurement directory it is in. Its copies of sources, made
  // during the analysis, take precedence over the files themselves.
  SourceLines(const Database& database, const std::string& path) : database_(database), path_(path) {}

  // Returns the line without indentation and printable. Empty if the location is not known, its file cannot
  // be read, or its path is not absolute.
  std::string line(const SourceLocation& location);

 private:
  const Database& database_;
  const std::filesystem::path path_;
  std::map<uint32_t, std::vector<std::string>> lines_of_file_;
};

}  // namespace prof
