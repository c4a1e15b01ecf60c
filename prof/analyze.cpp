#include "prof/analyze.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/database/database.h"
#include "analysis/pipeline/run_analyze.h"
#include "prof/measurement_directory.h"
#include "prof/message.h"
#include "prof/report/report_command.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

struct AnalyzeCommand {
  std::vector<std::string> directories;
  std::string output;
  AnalyzeOptions options;
};

int default_jobs() {
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

fs::path analyze(const std::vector<fs::path>& directories, const fs::path& output,
                 const AnalyzeOptions& options) {
  // Before the work, not only after it.
  require_place_for_database(output.empty() ? directories.front() / "database" : output);
  if (!output.empty() && has_measurements(output))
    fail(kOwnFailure, "{}: holds measurements; choose another with -o", output.string());
  const AnalyzeResult result = run_analyze(directories, output, options);
  for (const std::string& warning : result.warnings) say_line(warning);
  return result.database;
}

}  // namespace

fs::path analyze_directory(const fs::path& directory) {
  AnalyzeOptions options;
  options.jobs = default_jobs();
  return analyze({directory}, {}, options);
}

void analyze_and_summarize(const fs::path& directory) {
  try {
    const fs::path database = analyze_directory(directory);
    const bool colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    report(read_database(database), ReportOptions{}, stderr, colour);
    show_line(database.string());
  } catch (const std::exception& error) {
    say("the measurements in {} could not be analyzed: {}", directory.string(), error.what());
  }
}

void add_analyze_command(CLI::App& app, int& status) {
  auto command = std::make_shared<AnalyzeCommand>();
  command->options.jobs = default_jobs();
  CLI::App* sub = app.add_subcommand("analyze", "Turn measurements into a database");
  sub->add_option("directories", command->directories, "Measurement directories, analyzed as one run")
      ->type_name("DIR")
      ->required();
  sub->add_option("-o,--output", command->output, "Database to write (default: DIR/database)")
      ->type_name("DATABASE");
  sub->add_option("-j,--jobs", command->options.jobs, "Threads to use (default: one per CPU)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  sub->add_flag_callback(
      "--no-sources", [command] { command->options.copy_sources = false; },
      "Copy no source files into the database");
  sub->add_flag("--merge-recursion", command->options.merge_recursion,
                "Fold recursive calls into the first occurrence of a function");
  sub->callback([command, &status] {
    std::signal(SIGPIPE, SIG_IGN);  // who reads our messages may leave
    const std::vector<fs::path> directories(command->directories.begin(), command->directories.end());
    show_line(analyze(directories, command->output, command->options).string());
    status = 0;
  });
}

}  // namespace prof
