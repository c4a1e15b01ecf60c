#include "prof/report.h"

#include <cstdio>
#include <filesystem>
#include <memory>

#include "analysis/pipeline/stored_files.h"
#include "prof/analyze.h"
#include "prof/export/export_command.h"
#include "prof/measurement_directory.h"
#include "prof/message.h"
#include "prof/quiet.h"
#include "prof/report/report_command.h"

namespace prof {

namespace fs = std::filesystem;

Database open_database(const fs::path& path, ReadValues when) {
  if (is_database(path)) return read_database(path, when);
  if (has_measurements(path)) return database_of(path, when);
  if (is_measurement_file(path))
    fail(kOwnFailure, "{}: the measurements of one process; give the directory that it is in, {}",
         path.string(), path.has_parent_path() ? path.parent_path().string() : ".");
  if (is_container(path))
    fail(kOwnFailure, "{}: the measurements of one node; give the directory that it is in, {}", path.string(),
         path.has_parent_path() ? path.parent_path().string() : ".");
  // Of another user's run only the database may be readable.
  if (const fs::path file = unreadable_measurement(path); !file.empty()) {
    if (is_database(path / "database")) return read_database(path / "database", when);
    fail(kOwnFailure, "{}: permission denied; have its user run `prof analyze {} -o DATABASE`", file.string(),
         path.string());
  }
  return read_database(path, when);
}

void add_report_command(CLI::App& app, int& status) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show a database, or the measurements of a run");
  add_report_options(*command, *options);
  add_quiet_option(*command);
  command->callback([options, &status] {
    status = report(open_database(options->database, ReadValues::WhenAskedFor), *options, stdout,
                    wants_colour(stdout));
  });
}

void add_export_command(CLI::App& app, int& status) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write a database in a format that other tools read");
  add_export_options(*command, *options);
  add_quiet_option(*command);
  command->callback([command, options, &status] {
    require_format(*command);
    status = export_database(open_database(options->database, ReadValues::Now), *options, stdout);
  });
}

}  // namespace prof
