#pragma once
// `prof export DATABASE --format=FORMAT`: a database as other tools read it.

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
  std::string output;                // a file, or a folder to make; empty or "-": `out`
  bool force = false;                // replaces a file that holds no export (replaceable.h)
  std::vector<std::string> threads;  // see select() in analysis/views/selection.h
  std::vector<std::string> metrics;  // empty: those that were measured; formats of one metric take the first
  bool merge_recursion = false;
};

// Declares the positional DATABASE and every option of `prof export`.
void add_export_options(CLI::App& command, ExportOptions& options);

// Once settings are applied: throws CommandError (125) where neither they nor the command line name a format.
void require_format(const CLI::App& command);

// Writes to options.output or `out`. Failures are one line on stderr and kOwnFailure (prof/base/message.h) as
// exit status; DatabaseError where a trace cannot be read.
int export_database(const Database& database, const ExportOptions& options, std::FILE* out);

}  // namespace prof
