#include "prof/commands/analyze.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/files/user_rights.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/base/quiet.h"
#include "prof/results/databases.h"
#include "prof/results/share.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

struct AnalyzeCommand {
  std::vector<std::string> directories;
  std::string output;
  bool resume = false;
  AnalyzeOptions options;  // jobs: 0 if not given
};

}  // namespace

void add_analyze_command(CLI::App& app, int& status) {
  auto command = std::make_shared<AnalyzeCommand>();
  command->options.jobs = 0;
  CLI::App* sub = app.add_subcommand("analyze", "Analyze measurements into a database");
  sub->add_option("directories", command->directories, "Measurement directories, analyzed as one run")
      ->type_name("DIR")
      ->required();
  sub->add_option("-o,--output", command->output, "Database to write [DIR/database]")->type_name("DATABASE");
  sub->add_option("-j,--jobs", command->options.jobs, "Threads to use [one per CPU]")
      ->check(within(1, 1024))
      ->type_name("N");
  sub->add_flag_callback(
      "--no-sources", [command] { command->options.copy_sources = false; },
      "Do not copy source files into the database");
  sub->add_flag("--merge-recursion", command->options.merge_recursion,
                "Fold recursive calls into their outermost frame");
  sub->add_flag("--resume", command->resume,
                "Resume an interrupted analysis, or start one that can be resumed");
  add_share_option(*sub);
  add_quiet_option(*sub);
  sub->callback([command, &status] {
    std::signal(SIGPIPE, SIG_IGN);  // the reader of our messages may exit
    const std::vector<fs::path> directories(command->directories.begin(), command->directories.end());
    const AnalyzeOptions& options = command->options;
    const std::optional<UserRights> rights =
        command->output.empty() ? rights_for(directories.front()) : std::nullopt;
    const fs::path database = analyze_with_workers(
        options, {directories, command->output,
                  fmt::format("sources {}, recursion {}", options.copy_sources, options.merge_recursion),
                  command->resume});
    if (command->output.empty()) share_measurements(directories.front());
    say_who_may_read(database);
    if (!is_quiet()) show_line(database.string());
    status = 0;
  });
}

}  // namespace prof
