#pragma once
// Runs an export and returns its output.

#include "prof/export/export_command.h"
#include "tests/report/rendered.h"

namespace prof::test {

inline Rendered exported(const Database& database, const ExportOptions& options = {}) {
  return rendered([&](std::FILE* out) { return export_database(database, options, out); });
}

inline Rendered exported(const Database& database, ExportFormat format) {
  ExportOptions options;
  options.format = format;
  return exported(database, options);
}

}  // namespace prof::test
