#include "prof/commands/exact.h"

#include <memory>

#include "prof/base/message.h"
#include "prof/base/quiet.h"
#include "prof/exact/exact.h"
#include "prof/results/share.h"

namespace prof {

namespace {

int run(const ExactOptions& options) {
  if (options.command.empty())
    fail(kOwnFailure, "the program to run is missing; name it after the options; see prof exact --help");
  return run_exact(options);
}

}  // namespace

void add_exact_command(CLI::App& app, int& status) {
  auto options = std::make_shared<ExactOptions>();
  CLI::App* command = app.add_subcommand("exact", "Count all wasted stores and loads of a program, slowly");
  command->add_flag("--dead-stores", options->dead_stores, "Count stores that are overwritten before a load");
  command->add_flag("--silent-stores", options->silent_stores, "Count stores of the value that is there");
  command->add_flag("--redundant-loads", options->redundant_loads, "Count loads of an unchanged value again");
  command->add_flag("--count", options->count, "Count the executions of each instruction");
  command->add_flag_callback(
      "--no-analyze", [options] { options->analyze = false; }, "Do not analyze or print a summary");
  command->add_flag("--force", options->force, "Replace measurements in the directory");
  command->add_option("-o,--output", options->output, "Measurement directory [prof-PROGRAM-%j-%p]")
      ->type_name("DIR");
  add_share_option(*command);
  add_quiet_option(*command);
  command->add_option("command", options->command, "Program to measure, and its arguments")
      ->type_name("PROGRAM [ARGUMENT]...");
  command->prefix_command(false);
  command->positionals_at_end(true);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace prof
