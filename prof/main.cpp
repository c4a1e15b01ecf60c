// The `prof` command: standard streams, failures and the exit status. Each subcommand has a file of its own.

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "analysis/files/cut_files.h"
#include "prof/base/message.h"
#include "prof/cc/compile.h"
#include "prof/command_line/description.h"
#include "prof/command_line/help_text.h"
#include "prof/command_line/misuse.h"
#include "prof/command_line/optional_values.h"
#include "prof/commands/application.h"

using namespace prof;

namespace {

// Opens a placeholder for each standard stream that is closed; otherwise one of prof's own files would get
// its number. Reading or writing the placeholder fails as on the closed stream, and it is closed again in the
// measured program.
void fill_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int lowest_free = open("/dev/null", mode | O_CLOEXEC);
  }
}

// Flushes standard output, and returns the exit status: output that could not be written is a failure.
int finish_output(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout) return status;
  say("cannot write to standard output: {}", std::strerror(errno));
  return kOwnFailure;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  survive_cut_files();
  int status = 0;
  Application app(status);
  try {
    if (const std::optional<Compilation> compilation = compilation_in(argc, argv))
      return compile(*compilation);
    std::vector<const char*> words;
    const std::vector<std::string> completed = with_values_left_out(app, argc, argv);
    for (const std::string& word : completed) words.push_back(word.c_str());
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& answer) {
    app.exit(answer);  // prints the help or version that was requested
  } catch (const CLI::ParseError& error) {
    if (argc < 2) {
      std::fputs(help_text(describe(app)).c_str(), stderr);
      return kOwnFailure;
    }
    say_line(format_misuse(app, error));
    return kOwnFailure;
  } catch (const CommandError& error) {
    if (*error.what()) say_line(error.what());  // otherwise another rank prints it
    return error.status();
  } catch (const std::exception& error) {
    say_line(error.what());
    return kOwnFailure;
  }
  return finish_output(status);
}
