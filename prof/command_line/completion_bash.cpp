#include <fmt/format.h>

#include "prof/command_line/completion.h"

namespace prof {
namespace {

// Returns the table's entry for values that are not fixed.
std::string words_of(const OptionDescription& option) {
  switch (option.kind) {
    case ValueKind::Choice: {
      std::string words;
      for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
      return words;
    }
    case ValueKind::File:
      return "@file";
    case ValueKind::Directory:
      return "@directory";
    case ValueKind::Event:
      return "@event";
    case ValueKind::Process:
      return "@process";
    case ValueKind::Program:
      return "@program";
    case ValueKind::Other:
      break;
  }
  return "@nothing";
}

std::string key_of(const CommandDescription& command) {
  std::string key;
  for (size_t i = 1; i < command.words.size(); ++i) key += (key.empty() ? "" : " ") + command.words[i];
  return key;
}

// Functions that begin with a word that the shell does not define yet. They read tables by "SUBCOMMAND ..."
// and by "SUBCOMMAND ...|--option".
constexpr const char* kEngine = R"sh(
_prof_events() {
  prof list events --format=names 2>/dev/null
}

# Offers the words that a table entry stands for.
_prof_offer() {
  local what=$1 current=$2
  case $what in
    @nothing) COMPREPLY=() ;;
    @file) mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null ;;
    @directory) mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2>/dev/null ;;
    @event) mapfile -t COMPREPLY < <(compgen -W "$(_prof_events)" -- "$current") ;;
    @process) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc 2>/dev/null && echo [0-9]*)" -- "$current") ;;
    @program) mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current"); compopt -o filenames 2>/dev/null ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$what" -- "$current") ;;
  esac
}

_prof() {
  COMPREPLY=()
  # Bash breaks words at '=' and ':': put options and event names together again.
  local words=() word i line=${COMP_LINE:0:COMP_POINT}
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local current=${words[-1]} command= option= positionals=0
  for ((i = 1; i < ${#words[@]} - 1; ++i)); do
    word=${words[i]}
    if [[ -n $option ]]; then option=; continue; fi
    if [[ $word == -- ]]; then positionals=$((positionals + 1)); continue; fi
    if [[ $word == -* ]]; then
      [[ $word != *=* && $(_prof_values "$command|$word") ]] && option=$word
      continue
    fi
    if [[ " $(_prof_commands "$command") " == *" $word "* ]]; then
      command="${command:+$command }$word"
    elif [[ $(_prof_arguments "$command") == @program ]]; then
      # The words of the program to run are completed as they would be without us.
      if declare -F _command_offset >/dev/null; then _command_offset "$i"; else _prof_offer @file "$current"; fi
      return
    else
      positionals=$((positionals + 1))
    fi
  done
  local values prefix=
  if [[ -n $option ]]; then
    values=$(_prof_values "$command|$option")
  elif [[ $current == --*=* ]]; then
    values=$(_prof_values "$command|${current%%=*}")
    # A value that may be left out is no word of its own.
    [[ -n $values ]] || values=$(_prof_values "$command|${current%%=*}=")
    current=${current#*=}
  fi
  if [[ -n $values ]]; then
    _prof_offer "$values" "$current"
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_prof_options "$command")" -- "$current")
    # An option that takes a value as --option=VALUE is not finished yet.
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == --* && $(_prof_values "$command|${COMPREPLY[0]}") ]]; then
      COMPREPLY[0]+='='
      compopt -o nospace 2>/dev/null
    fi
  else
    local commands
    commands=$(_prof_commands "$command")
    if [[ -n $commands ]]; then _prof_offer "$commands" "$current"; else _prof_offer "$(_prof_arguments "$command")" "$current"; fi
  fi
  # What Bash took for words of its own is not repeated.
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    prefix=${current%"${current##*:}"}
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$prefix"}; done
  fi
}

complete -F _prof prof
)sh";

class Table {
 public:
  explicit Table(const std::string& function) : text_(function + "() {\n  case $1 in\n") {}
  void add(const std::string& key, const std::string& words) {
    if (!words.empty()) text_ += fmt::format("    '{}') echo '{}' ;;\n", key, words);
  }
  std::string finish() const { return text_ + "  esac\n}\n"; }

 private:
  std::string text_;
};

}  // namespace

std::string bash_completion(const CommandDescription& root) {
  Table commands("_prof_commands");
  Table options("_prof_options");
  Table values("_prof_values");
  Table arguments("_prof_arguments");
  for_each_command(root, [&](const CommandDescription& command) {
    const std::string key = key_of(command);
    std::string words;
    for (const CommandDescription& sub : command.subcommands)
      words += (words.empty() ? "" : " ") + sub.words.back();
    commands.add(key, words);
    words.clear();
    for (const OptionDescription& option : command.options) {
      for (const std::string& name : option.names) {
        words += (words.empty() ? "" : " ") + name;
        const char* const glue = option.value_is_optional ? "=" : "";
        if (!option.value.empty()) values.add(fmt::format("{}|{}{}", key, name, glue), words_of(option));
      }
    }
    options.add(key, words);
    if (!command.positionals.empty()) arguments.add(key, words_of(command.positionals.front()));
  });
  return "# Completion of prof for Bash; made by `prof completion bash`.\n\n" + commands.finish() + "\n" +
         options.finish() + "\n" + values.finish() + "\n" + arguments.finish() + kEngine;
}

}  // namespace prof
