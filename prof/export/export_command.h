#pragma once
// `prof export DATABASE --format=FORMAT`: writes a database in the format of another tool.

#include <cstdio>
#include <string>
#include <vector>

#include "analysis/database/model.h"
#include "prof/export/export_format.h"

namespace CLI {
class App;
}

namespace prof {

struct ExportOptions {
  std::string database;  // as the user named it
  ExportFormat format = ExportFormat::Collapsed;
  std::string output;                // a file, or a folder to create; empty or "-": `out`
  bool force = false;                // replaces a file that is not an export (replaceable.h)
  std::vector<std::string> threads;  // see select() in analysis/views/selection.h
  std::vector<std::string>
      metrics;  // empty: those that were measured; formats with one metric take the first
  bool merge_recursion = false;
};

// Declares the positional DATABASE and every option of `prof export`.
void add_export_options(CLI::App& command, ExportOptions& options);

// Throws CommandError (125) if neither settings nor the command line name a format. Must be called once
// settings are applied.
void require_format(const CLI::App& command);

// Writes to options.output or `out`. A failure is one line on standard error, and kOwnFailure
// (prof/base/message.h) is returned. Throws DatabaseError if a trace cannot be read.
int export_database(const Database& database, const ExportOptions& options, std::FILE* out);

}  // namespace prof
