#pragma once
// The text of a source file: the copy in the database, or else the file at its path.

#include <QString>
#include <filesystem>

#include "analysis/database/model.h"

namespace prof::viewer {

struct SourceText {
  QString text;
  QString failure;  // one line with the reason why there is no text, and the places searched; else empty
};

SourceText read_source(const std::filesystem::path& database, const SourceFile& file);

}  // namespace prof::viewer
