#pragma once
// Finds the text of a source file: the database's copy, which dates from the analysis, or the file itself.

#include <filesystem>
#include <string>

#include "analysis/database/model.h"

namespace prof {

struct SourceText {
  // `database` is the database, or the measurement directory that contains it.
  SourceText(const std::filesystem::path& database, const SourceFile& file);

  // Returns the whole text; empty if it cannot be read or its path is not absolute.
  std::string copy_or_file() const;
  // Uses only the copy.
  std::string copy() const;

 private:
  std::filesystem::path database_;
  SourceFile file_;
};

}  // namespace prof
