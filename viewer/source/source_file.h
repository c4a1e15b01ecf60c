#pragma once
// The text of a source file: the copy that the database has, else the file at its path.

#include <QString>
#include <filesystem>

#include "analysis/database/model.h"

namespace prof::viewer {

struct SourceText {
  QString text;
  QString failure;  // why there is no text, in a line that names where it was looked for; else empty
};

SourceText read_source(const std::filesystem::path& database, const SourceFile& file);

}  // namespace prof::viewer
