#include "prof/exact/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "analysis/files/folder.h"
#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"
#include "prof/base/runtime_library.h"
#include "prof/exact/convert.h"
#include "prof/exact/valgrind_log.h"
#include "prof/launch/launch.h"
#include "prof/launch/target.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/results/databases.h"
#include "prof/results/share.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

// Of Debian's package valgrind: what every program in Valgrind loads. The tool has the rest of Valgrind in
// it.
constexpr char kValgrindPreload[] = "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so";

void require_valgrind() {
  std::error_code error;
  if (!fs::exists(kValgrindPreload, error))
    fail(kOwnFailure, "Valgrind is not installed ({} is missing); install the package valgrind",
         kValgrindPreload);
}

void require_kinds(const ExactOptions& options) {
  if (!options.dead_stores && !options.silent_stores && !options.redundant_loads && !options.count)
    fail(kOwnFailure,
         "nothing to count; add --dead-stores, --silent-stores, --redundant-loads or --count (see prof exact "
         "--help)");
}

// Valgrind replaces %-sequences in the names of logs.
std::string log_pattern(const fs::path& directory) {
  std::string pattern;
  const std::string prefix = directory / "exact-";
  for (const char c : prefix) {
    pattern += c;
    if (c == '%') pattern += '%';
  }
  return pattern + "%p.log";
}

Launch launch_of(const ExactOptions& options, const fs::path& tool, const fs::path& directory) {
  Launch launch;
  launch.program = tool;
  launch.measurement_directory = directory;
  launch.watches_debuggers = false;
  launch.arguments = {tool.string(),
                      "--tool=profexact",
                      "--command-line-only=yes",
                      "-q",
                      "--vgdb=no",
                      "--trace-children=yes",
                      "--demangle=no",
                      "--read-inline-info=no",
                      "--sigill-diagnostics=yes",
                      "--log-file=" + log_pattern(directory),
                      "--directory=" + directory.string()};
  const auto add = [&](bool is_chosen, const char* option) {
    if (is_chosen) launch.arguments.push_back(fmt::format("{}=yes", option));
  };
  add(options.dead_stores, "--dead-stores");
  add(options.silent_stores, "--silent-stores");
  add(options.redundant_loads, "--redundant-loads");
  add(options.count, "--count");
  launch.arguments.push_back("--");
  launch.arguments.insert(launch.arguments.end(), options.command.begin(), options.command.end());
  return launch;
}

// Returns the files of the tool in the directory whose names end so.
std::vector<fs::path> files_of_tool(const fs::path& directory, const char* extension) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    if (entry.path().filename().native().starts_with("exact-") && entry.path().extension() == extension)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void remove_files(const std::vector<fs::path>& files) {
  for (const fs::path& file : files) (void)remove_own(file);  // a file that is left is harmless
}

// Returns false if the dump could not be converted, after a message.
bool convert(const fs::path& dump, const fs::path& directory) try {
  const RegularFile file(dump, O_RDONLY | O_NOFOLLOW);
  if (!file.is_open()) throw DumpError(file.reason());
  const std::optional<std::string> bytes = file.read(0, file.size());
  if (!bytes) throw DumpError("it cannot be read");
  convert_exact_dump(read_exact_dump(*bytes), directory);
  return true;
} catch (const DumpError& error) {
  say("lost the measurements in {}: {}", dump.string(), error.what());
  return false;
}

void convert_dumps(const fs::path& directory) {
  for (const fs::path& dump : files_of_tool(directory, ".dump"))
    if (convert(dump, directory)) remove_files({dump});
}

// Processes often have the same problem.
void report_problems(const fs::path& directory) {
  std::vector<std::string> said;
  const std::vector<fs::path> logs = files_of_tool(directory, ".log");
  for (const fs::path& log : logs) {
    const std::optional<std::string> problem = problem_in_valgrind_log(read_regular_file(log).value_or(""));
    if (!problem || std::find(said.begin(), said.end(), *problem) != said.end()) continue;
    said.push_back(*problem);
    say_line(*problem);
  }
  remove_files(logs);
}

int finish(const ExactOptions& options, const fs::path& directory, const Outcome& outcome) {
  if (!has_measurements(directory)) {
    say("nothing was measured: {}", outcome.signal == SIGKILL
                                        ? "SIGKILL ended the program before it could write its results"
                                        : "no process of the program left results in " + directory.string());
    return outcome.exit_status;
  }
  share_measurements(directory);
  say_who_may_read(directory);
  if (options.analyze)
    analyze_and_summarize(directory);
  else
    remark("measurements are in {}", directory.string());
  return outcome.exit_status;
}

}  // namespace

int run_exact(const ExactOptions& options) {
  require_kinds(options);
  const fs::path tool = find_exact_tool();
  require_valgrind();
  const Target target = find_target(options.command.front());
  const fs::path directory =
      create_measurement_directory(options.output, options.command.front(), options.force);
  const std::string start = present_time();
  const Outcome outcome = launch(launch_of(options, tool, directory));
  report_problems(directory);
  convert_dumps(directory);
  write_run_record(directory, options.command, start, outcome, 0);
  return finish(options, directory, outcome);
}

}  // namespace prof
