#include "prof/report/export_command.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "analysis/views/call_tree.h"
#include "prof/message.h"
#include "prof/report/choice.h"
#include "prof/report/collapsed.h"
#include "prof/report/report_command.h"

namespace prof {
namespace {

const std::map<std::string, ExportFormat> kFormats = {{"collapsed", ExportFormat::Collapsed}};

int failed(const std::string& what) {
  say("cannot write {}: {}", what, std::strerror(errno));
  return kOwnFailure;
}

}  // namespace

void add_export_options(CLI::App& command, ExportOptions& options) {
  add_selection_options(command, options.database, options.threads, options.merge_recursion);
  command.add_option("--format", options.format, "collapsed: stacks for flame graphs")
      ->transform(choice(kFormats))
      ->required()
      ->type_name("FORMAT");
  command.add_option("-o,--output", options.output, "the file to write [standard output]")->type_name("FILE");
  command.add_option("--metric", options.metric, "the metric to export [the first that was measured]")
      ->type_name("NAME");
}

int export_database(const Database& database, const ExportOptions& options, std::FILE* out) {
  Selection selection;
  try {
    selection =
        select(database, options.metric.empty() ? std::vector<std::string>{} : std::vector{options.metric},
               options.threads);
  } catch (const SelectionError& error) {
    say_line(error.what());
    return kOwnFailure;
  }
  if (selection.metrics.size() > 1) selection.metrics.resize(1);
  const CallTree tree = build_call_tree(database, selection, options.merge_recursion);

  if (options.output.empty()) {
    Output output(out);
    tree_as_collapsed(tree, output);
    return output.flush() ? 0 : failed("the stacks");
  }
  std::FILE* file = std::fopen(options.output.c_str(), "we");
  if (!file) return failed(options.output);
  bool good = false;
  {
    Output output(file);
    tree_as_collapsed(tree, output);
    good = output.flush();
  }
  if (std::fclose(file) != 0 || !good) return failed(options.output);
  return 0;
}

}  // namespace prof
