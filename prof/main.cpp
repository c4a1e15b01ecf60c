// The `prof` command: one subcommand a file.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "prof/analyze.h"
#include "prof/attach.h"
#include "prof/import.h"
#include "prof/list.h"
#include "prof/message.h"
#include "prof/pause.h"
#include "prof/report.h"
#include "prof/run.h"

using namespace prof;

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

std::string names(const std::vector<const CLI::App*>& commands) {
  std::string text;
  for (const CLI::App* command : commands) text += (text.empty() ? "" : ", ") + command->get_name();
  return text;
}

// CLI11's errors in our form: one line with the remedy.
void say_misuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::string path = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    path += " " + command->get_name();
  }
  std::string what = error.what();
  const auto choices = command->get_subcommands([](const CLI::App*) { return true; });
  if (!choices.empty()) {
    const std::vector<std::string> unknown = app.remaining(true);
    what = (unknown.empty() ? "a subcommand is needed" : "unknown subcommand '" + unknown.front() + "'") +
           ": one of " + names(choices);
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) &&
             what.find(" missing") != std::string::npos) {
    what = what.substr(0, what.find(':')) + " needs a value";
  }
  say("{}; see {} --help", what, path);
}

// What is still buffered: an answer that did not arrive is a failure.
int finish_output(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout) return status;
  say("cannot write to standard output: {}", std::strerror(errno));
  return kOwnFailure;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  CLI::App app{"Samples programs without a rebuild and says who is to blame for the waste.", "prof"};
  app.set_version_flag("--version", PROF_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help for all subcommands");

  int status = 0;
  add_run_command(app, status);
  add_attach_command(app, status);
  add_pause_commands(app, status);
  add_analyze_command(app, status);
  add_report_command(app, status);
  add_export_command(app, status);
  add_import_command(app, status);
  add_list_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {
    app.exit(answer);  // prints the help or version that was asked for
  } catch (const CLI::ParseError& error) {
    say_misuse(app, error);
    return kOwnFailure;
  } catch (const CommandError& error) {
    say_line(error.what());
    return error.status();
  } catch (const std::exception& error) {
    say_line(error.what());
    return kOwnFailure;
  }
  return finish_output(status);
}
