#include "prof/commands/import.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "analysis/database/database.h"
#include "analysis/findings/findings_file.h"
#include "analysis/import/import.h"
#include "analysis/pipeline/sources.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/base/quiet.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/results/share.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

const std::map<std::string, ImportFormat> kFormats = {
    {"perf", ImportFormat::Perf}, {"collapsed", ImportFormat::Collapsed}, {"pprof", ImportFormat::Pprof}};

struct ImportCommand {
  std::string file;
  std::string output;
  bool copy_sources = true;
  ImportOptions options;
};

// Returns a path next to the recording, as the database of a run is next to its measurements.
fs::path default_output(const std::string& file) {
  return file == "-" ? fs::path("stdin.database") : fs::path(file + ".database");
}

fs::path import(const ImportCommand& command) {
  const fs::path output = command.output.empty() ? default_output(command.file) : fs::path(command.output);
  // Checked before the work, not only after it.
  require_place_for_database(output);
  if (has_measurements(output))
    fail(kOwnFailure, "{} holds measurements, not a database; choose another path with -o", output.string());
  Import result = import_file(command.file, command.options);
  if (command.copy_sources) mark_sources(result.database.files);
  for (const std::string& warning : result.warnings) remark_line(warning);
  write_database(result.database, output);
  write_findings(result.database, output);
  say_who_may_read(output);
  return output;
}

}  // namespace

void add_import_command(CLI::App& app, int& status) {
  auto command = std::make_shared<ImportCommand>();
  command->options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  CLI::App* sub = app.add_subcommand("import", "Convert a recording from another profiler into a database");
  sub->add_option("file", command->file,
                  "perf.data, collapsed stacks or a pprof profile; - reads standard input")
      ->type_name("FILE")
      ->required();
  sub->add_option("-o,--output", command->output, "Database to write [FILE.database]")->type_name("DATABASE");
  sub->add_option("--format", command->options.format, "Input format: perf, collapsed or pprof [detected]")
      ->transform(choice(kFormats))
      ->type_name("FORMAT");
  sub->add_flag_callback(
      "--no-sources", [command] { command->copy_sources = false; },
      "Do not copy source files into the database");
  add_share_option(*sub);
  add_quiet_option(*sub);
  sub->callback([command, &status] {
    std::signal(SIGPIPE, SIG_IGN);  // the reader of our messages may exit
    const fs::path database = import(*command);
    if (!is_quiet()) show_line(database.string());
    status = 0;
  });
}

}  // namespace prof
