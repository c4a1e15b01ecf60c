#pragma once
// Implements `prof analyze` without its command line: converts measurement directories to a database on disk.

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/pipeline/pipeline.h"

namespace prof {

struct AnalyzeResult {
  std::filesystem::path database;
  std::vector<std::string> warnings;  // for the user, one line each; nothing is printed here
};

// Writes to `output`, or, if that is empty, to "database" in the first directory. Throws AnalyzeError, or
// DatabaseError if the database cannot be written.
AnalyzeResult run_analyze(const std::vector<std::filesystem::path>& directories,
                          const std::filesystem::path& output, AnalyzeOptions options = {});

}  // namespace prof
