// The `prof` command: one subcommand a file.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "prof/analyze.h"
#include "prof/list.h"
#include "prof/message.h"
#include "prof/report.h"
#include "prof/run.h"

namespace {

// A file of ours must not get the number of a standard stream that is closed. What is put there fails as the
// closed one would, and is closed again in the measured program.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int lowest_free = open("/dev/null", mode | O_CLOEXEC);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace prof;
  fill_standard_streams();
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
