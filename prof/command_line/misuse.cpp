#include "prof/command_line/misuse.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/words/nearest_name.h"
#include "prof/command_line/description.h"

namespace prof {
namespace {

constexpr size_t kMaxNamesColumns = 80;  // keeps the message to one line

std::vector<std::string> names_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandDescription& command : commands) names.push_back(command.words.back());
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.size() + name.size() > kMaxNamesColumns) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string missing_subcommand(const CLI::App& app, const CommandDescription& command) {
  const std::vector<std::string> names = names_of(command.subcommands);
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return "the subcommand is missing: use one of " + listed(names);
  const std::string& word = unknown.front();
  return "unknown subcommand '" + word + "'" + nearest_or_all(word, names);
}

// Names a required option that is missing, as the help names it.
std::string missing_option(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const OptionDescription described = describe(*option);
    return (option->get_positional() ? described.value : described.names.back()) + " is missing";
  }
  return "a required option is missing";
}

std::string wrong_value(const CLI::App& command, const CLI::ParseError& error) {
  for (const CLI::Option* option : command.get_options())
    if (const std::string why = format_value(*option, error); !why.empty())
      return describe(*option).names.empty() ? why : option->get_name() + ": " + why;
  return error.what();
}

std::string unknown_option(const std::string& word, const CommandDescription& command) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return "unknown option " + name + did_you_mean(name, names);
}

}  // namespace

std::string format_value(const CLI::Option& option, const CLI::ParseError& error) {
  const std::string what = error.what();
  const std::string unconverted = "Could not convert: " + option.get_name() + " = ";
  if (what.starts_with(unconverted)) {
    const bool is_flag = option.get_items_expected_max() == 0;
    return fmt::format("'{}': expected {}", what.substr(unconverted.size()),
                       is_flag ? "true or false" : "a number");
  }
  const std::string lead = option.get_name() + ": ";
  if (!what.starts_with(lead)) return {};
  // CLI11 prints the numbers that it accepts with all their 300 digits.
  constexpr std::string_view kValue = "Value ";
  const size_t end = what.find(" not in range ");
  if (what.compare(lead.size(), kValue.size(), kValue) != 0 || end == what.npos)
    return what.substr(lead.size());
  const size_t start = lead.size() + kValue.size();
  return fmt::format("'{}' is {}", what.substr(start, end - start),
                     describe(option).kind == ValueKind::Process ? "not a process ID" : what.substr(end + 1));
}

std::string nearest_or_all(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = did_you_mean(word, names);
  return nearest.empty() ? ": use one of " + listed(names) : nearest;
}

std::string format_misuse(const CLI::App& app, const CLI::ParseError& error) {
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
  } else if (dynamic_cast<const CLI::RequiredError*>(&error)) {
    what = missing_option(*used);
  } else {
    what = wrong_value(*used, error);
  }
  return what + (what.ends_with('?') ? " See " : "; see ") + command.path() + " --help";
}

}  // namespace prof
