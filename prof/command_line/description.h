#pragma once
// The description of a command, read from CLI11's declarations and from the table of texts (command_texts.h).
// Help texts, manual pages, completion scripts and settings are all made from it, so a declared option
// appears in every one of them.

#include <string>
#include <vector>

#include "prof/command_line/command_texts.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace prof {

// The values that a shell can offer.
enum class ValueKind : uint8_t { Other, Choice, File, Directory, Event, Process, Program };

struct OptionDescription {
  std::vector<std::string> names;  // with their dashes, short ones first
  std::string long_name;           // without dashes; empty if there is none
  std::string value;               // placeholder of the value in help texts; empty for a flag
  std::string text;                // a sentence without its full stop
  ValueKind kind = ValueKind::Other;
  std::vector<std::string> choices;  // for ValueKind::Choice
  bool required = false;
  bool repeatable = false;
  bool value_is_optional = false;
  bool is_setting = false;  // may come from the environment and from settings files
};

struct CommandDescription {
  std::vector<std::string> words;  // {"prof", "list", "events"}
  std::string summary;             // a phrase
  std::vector<OptionDescription> options;
  std::vector<OptionDescription> positionals;  // named by `value`
  std::vector<CommandDescription> subcommands;
  CommandText text;

  std::string path() const;  // "prof list events"
};

CommandDescription describe(const CLI::App& command);
// Describes one option of a command, or a positional.
OptionDescription describe(const CLI::Option& option);

// Returns "prof run [options] [--] PROGRAM [ARGUMENT]...".
std::string usage(const CommandDescription& command);

// Calls visit(command) for a command and all below it, outermost first.
template <typename Visit>
void for_each_command(const CommandDescription& command, const Visit& visit) {
  visit(command);
  for (const CommandDescription& sub : command.subcommands) for_each_command(sub, visit);
}

}  // namespace prof
