#include <fmt/format.h>

#include "prof/command_line/completion.h"

namespace prof {
namespace {

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// Returns the options of `complete` that offer an option's value or an argument.
std::string offers(const OptionDescription& option) {
  switch (option.kind) {
    case ValueKind::Choice: {
      std::string words;
      for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
      return (option.value_is_optional ? "-f -a " : "-x -a ") + shell_quoted(words);
    }
    case ValueKind::File:
      return "-r -F";
    case ValueKind::Directory:
      return "-x -a '(__fish_complete_directories)'";
    case ValueKind::Event:
      return "-x -a '(prof list events --format=names 2>/dev/null)'";
    case ValueKind::Process:
      return "-x -a '(__fish_complete_pids)'";
    case ValueKind::Program:
      return "-x -a '(__fish_complete_subcommand --fcs-skip=2)'";
    case ValueKind::Other:
      break;
  }
  return option.value_is_optional ? "-f" : "-x";
}

// Returns the condition under which this command's options and arguments are expected: not after one of its
// subcommands.
std::string condition(const CommandDescription& command) {
  std::string words = command.subcommands.empty() ? "__prof_in" : "__prof_at";
  for (size_t i = 1; i < command.words.size(); ++i) words += " " + command.words[i];
  return shell_quoted(words);
}

constexpr const char* kPreamble = R"sh(# Completion of prof for Fish; made by `prof completion fish`.

function __prof_words
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; or echo $word
  end
end

# True when the words typed so far are exactly these.
function __prof_at
  set -l words (__prof_words)
  test "$words" = "$argv"
end

# True when the words typed so far begin with these.
function __prof_in
  set -l words (__prof_words)
  set -l wanted (count $argv)
  test (count $words) -ge $wanted; and test "$words[1..$wanted]" = "$argv"
end

complete -c prof -f
)sh";

}  // namespace

std::string fish_completion(const CommandDescription& root) {
  std::string script = kPreamble;
  for_each_command(root, [&](const CommandDescription& command) {
    const std::string when = condition(command);
    for (const CommandDescription& sub : command.subcommands)
      script += fmt::format("complete -c prof -n {} -a {} -d {}\n", when, sub.words.back(),
                            shell_quoted(sub.summary));
    for (const OptionDescription& option : command.options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += fmt::format("complete -c prof -n {}{}{} -d {}\n", when, names,
                            option.value.empty() ? "" : " " + offers(option), shell_quoted(option.text));
    }
    if (!command.positionals.empty() && command.positionals.front().kind != ValueKind::Other)
      script += fmt::format("complete -c prof -n {} {}\n", when, offers(command.positionals.front()));
  });
  return script;
}

}  // namespace prof
