#pragma once
// Where the text of a source file is: a database's copy of it, which is of the time of the analysis, or the
// file itself.

#include <filesystem>
#include <string>

#include "analysis/database/model.h"

namespace prof {

struct SourceText {
  // `database` is the database, or the measurement directory that it is in.
  SourceText(const std::filesystem::path& database, const SourceFile& file);

  // Whole; empty if it cannot be read or its path is not absolute.
  std::string copy_or_file() const;
  // Of the copy alone.
  std::string copy() const;

 private:
  std::filesystem::path database_;
  SourceFile file_;
};

}  // namespace prof
