#include "prof/export/export_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "analysis/files/named_output.h"
#include "analysis/views/tree/call_tree.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/export/replaceable.h"
#include "prof/export/trace.h"
#include "prof/report/report_command.h"

namespace prof {
namespace {

constexpr const char* kFormatOption = "--format";

const std::map<std::string, ExportFormat>& format_names() {
  static const std::map<std::string, ExportFormat> names = [] {
    std::map<std::string, ExportFormat> result;
    for (const ExportFormatInfo& info : export_formats()) result.emplace(info.name, info.format);
    return result;
  }();
  return names;
}

std::string help_on_formats() {
  std::string text = "Output format (required)";
  for (const ExportFormatInfo& info : export_formats())
    text += fmt::format("; {}: {}", info.name, info.opened_with);
  return text;
}

[[noreturn]] void fail_to_write(const std::string& what) {
  fail(kOwnFailure, "cannot write {}: {}", what, std::strerror(errno));
}

// False for standard output.
bool is_file(const ExportOptions& options) {
  return !options.output.empty() && options.output != "-";
}

// Checks everything that can be checked before writing. Throws CommandError (125).
void require_possible(const ExportFormatInfo& format, const ExportOptions& options, bool any_trace,
                      std::FILE* out) {
  if (format.one_metric && options.metrics.size() > 1)
    fail(kOwnFailure, "{} can hold only one metric; export {} separately", format.name,
         fmt::join(options.metrics, ", "));
  if (format.needs_trace && !any_trace)
    fail(kOwnFailure, "{} needs a trace, and none was recorded; measure with prof run --trace", format.name);
  if (is_file(options)) {
    if (!format.write_archive && !is_device_name(options.output))
      require_replaceable(options.output, format, options.force);
    return;
  }
  if (format.write_archive)
    fail(kOwnFailure, "{} writes a folder of several files; name it with -o FOLDER", format.name);
  if (format.binary && isatty(fileno(out)))
    fail(kOwnFailure,
         "{} is binary and is not written to a terminal; name a file with -o FILE, or use a pipe",
         format.name);
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

void write_and_close(const ExportFormatInfo& format, const CallTree& tree, File file,
                     const std::string& path) {
  if (!file) fail_to_write(path);
  {
    Output output(file.get());
    format.write(tree, output);
    if (!output.flush()) fail_to_write(path);
  }
  if (std::fclose(file.release()) != 0) fail_to_write(path);
}

void export_to_file(const ExportFormatInfo& format, const CallTree& tree, const std::string& path) try {
  NamedOutput file(path);
  const int descriptor = fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) fail_to_write(path);
  write_and_close(format, tree, File(fdopen(descriptor, "w"), std::fclose), path);
  file.keep();
} catch (const WriteError& error) {
  fail(kOwnFailure, "cannot write {}: {}", path, error.what());
}

}  // namespace

void add_export_options(CLI::App& command, ExportOptions& options) {
  add_selection_options(command, options.database, options.threads, options.merge_recursion);
  // Not required(): CLI11 checks that before settings are read.
  command.add_option(kFormatOption, options.format, help_on_formats())
      ->transform(choice(format_names()))
      ->type_name("FORMAT");
  command.add_option("-o,--output", options.output, "File to write (otf2: folder) [standard output]")
      ->type_name("FILE");
  command.add_flag("--force", options.force, "Replace FILE even if prof did not write it");
  command
      .add_option("--metric", options.metrics,
                  "Write only these metrics [all, or the first for formats with one]")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("NAME");
}

void require_format(const CLI::App& command) {
  if (command.count(kFormatOption) > 0) return;
  std::string names;
  for (const ExportFormatInfo& info : export_formats())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  fail(kOwnFailure, "--format is missing: use one of {}; see prof export --help", names);
}

int export_database(const Database& database, const ExportOptions& options, std::FILE* out) {
  const ExportFormatInfo& format = export_format(options.format);
  try {
    Selection selection = select(database, options.metrics, options.threads);
    const bool any_trace = std::any_of(selection.profiles.begin(), selection.profiles.end(),
                                       [&](uint32_t profile) { return has_trace(database, profile); });
    require_possible(format, options, any_trace, out);
    if (format.one_metric && selection.metrics.size() > 1) selection.metrics.resize(1);
    const CallTree tree = build_call_tree(database, selection, options.merge_recursion);
    if (format.write_archive) {
      format.write_archive(tree, options.output);
    } else if (is_file(options)) {
      export_to_file(format, tree, options.output);
    } else {
      Output output(out);
      format.write(tree, output);
      if (!output.flush()) fail_to_write("to standard output");
    }
  } catch (const SelectionError& error) {
    say_line(error.what());
    return kOwnFailure;
  } catch (const WriteError& error) {
    say_line(error.what());
    return kOwnFailure;
  } catch (const CommandError& error) {
    say_line(error.what());
    return error.status();
  }
  return 0;
}

}  // namespace prof
