#include "prof/command_line/misuse.h"

#include <algorithm>
#include <vector>

#include "analysis/views/spelling.h"
#include "prof/command_line/description.h"

namespace prof {
namespace {

constexpr size_t kMostNamesColumns = 90;  // keeps the message to one line

std::vector<std::string> names_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandDescription& command : commands) names.push_back(command.words.back());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.size() + name.size() > kMostNamesColumns) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string missing_subcommand(const CLI::App& app, const CommandDescription& command) {
  const std::vector<std::string> names = names_of(command.subcommands);
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return "a subcommand is needed: one of " + listed(names);
  const std::string& word = unknown.front();
  const std::string nearest = nearest_name(word, names);
  return "unknown subcommand '" + word + "'" +
         (nearest.empty() ? ": one of " + listed(names) : "; did you mean " + nearest + "?");
}

std::string unknown_option(const std::string& word, const CommandDescription& command) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return "unknown option " + name + did_you_mean(name, names);
}

}  // namespace

std::string words_for_misuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* used = &app;
  while (!used->get_subcommands().empty()) used = used->get_subcommands().front();
  const CommandDescription command = describe(*used);

  std::string what = error.what();
  const std::vector<std::string> unexpected = app.remaining(true);
  const auto option =
      std::ranges::find_if(unexpected, [](const std::string& word) { return word.starts_with("-"); });
  if (option != unexpected.end()) {
    what = unknown_option(*option, command);
  } else if (!command.subcommands.empty()) {
    what = missing_subcommand(app, command);
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) && !unexpected.empty()) {
    what = "unexpected argument '" + unexpected.front() + "'";
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) &&
             what.find(" missing") != std::string::npos) {
    what = what.substr(0, what.find(':')) + " needs a value";
  }
  return what + (what.ends_with('?') ? " See " : "; see ") + command.path() + " --help";
}

}  // namespace prof
