#pragma once
// The text of source lines, to be shown beside their costs.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/views/places.h"

namespace prof {

class SourceLines {
 public:
  // `path` is that of the database or of the measurement directory it is in: its copies of sources, which are
  // of the time of the analysis, come before the files themselves.
  SourceLines(const Database& database, const std::string& path) : database_(database), path_(path) {}

  // Without indentation and printable; empty where the place is not known or its file cannot be read
  // or its path is not absolute.
  std::string line(const Place& place);

 private:
  const Database& database_;
  const std::filesystem::path path_;
  std::map<uint32_t, std::vector<std::string>> lines_of_file_;
};

}  // namespace prof
