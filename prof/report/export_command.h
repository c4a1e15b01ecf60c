#pragma once
// `prof export DATABASE --format=collapsed`: a database as other tools read it.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/database/model.h"

namespace CLI {
class App;
}

namespace prof {

enum class ExportFormat : uint8_t { Collapsed };

struct ExportOptions {
  std::string database;  // as the user named it
  ExportFormat format = ExportFormat::Collapsed;
  std::string output;                // a file, replaced; empty: `out`
  std::vector<std::string> threads;  // see select() in analysis/views/selection.h
  std::string metric;                // empty: the first that was measured
  bool merge_recursion = false;
};

// Declares the positional DATABASE and every option of `prof export`.
void add_export_options(CLI::App& command, ExportOptions& options);

// Writes to options.output or `out`. Failures are one line on stderr and kOwnFailure (prof/message.h) as exit
// status.
int export_database(const Database& database, const ExportOptions& options, std::FILE* out);

}  // namespace prof
