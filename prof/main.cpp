// The `prof` command: one subcommand a file.

#include <CLI/CLI.hpp>
#include <exception>

#include "prof/analyze.h"
#include "prof/list.h"
#include "prof/message.h"
#include "prof/report.h"
#include "prof/run.h"

int main(int argc, char** argv) {
  using namespace prof;
  CLI::App app{"Samples programs without a rebuild and says who is to blame for the waste.", "prof"};
  app.set_version_flag("--version", PROF_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help for all subcommands");

  int status = 0;
  add_run_command(app, status);
  add_analyze_command(app, status);
  add_report_command(app, status);
  add_export_command(app, status);
  add_list_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kOwnFailure;
  } catch (const CommandError& error) {
    say_line(error.what());
    return error.status();
  } catch (const std::exception& error) {
    say_line(error.what());
    return kOwnFailure;
  }
  return status;
}
