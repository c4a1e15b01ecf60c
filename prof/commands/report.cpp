#include "prof/commands/report.h"

#include <cstdio>
#include <memory>

#include "prof/base/quiet.h"
#include "prof/base/terminal.h"
#include "prof/export/export_command.h"
#include "prof/report/report_command.h"
#include "prof/results/databases.h"

namespace prof {

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
  CLI::App* command = app.add_subcommand("export", "Convert a database to another tool's format");
  add_export_options(*command, *options);
  add_quiet_option(*command);
  command->callback([command, options, &status] {
    require_format(*command);
    status = export_database(open_database(options->database, ReadValues::Now), *options, stdout);
  });
}

}  // namespace prof
