#include <fmt/format.h>

#include <algorithm>

#include "prof/command_line/completion.h"

namespace prof {
namespace {

// Escapes text inside '...' and inside the [..] and :..: of a specification.
std::string specification_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      result += std::string("\\") + c;
    } else {
      result += c;
    }
  }
  return result;
}

std::string action(const OptionDescription& option) {
  switch (option.kind) {
    case ValueKind::Choice: {
      std::string words;
      for (const std::string& choice : option.choices) words += (words.empty() ? "" : " ") + choice;
      return "(" + words + ")";
    }
    case ValueKind::File:
      return "_files";
    case ValueKind::Directory:
      return "_files -/";
    case ValueKind::Event:
      return "_prof_events";
    case ValueKind::Process:
      return "_pids";
    case ValueKind::Program:
      return "_command_names -e";
    case ValueKind::Other:
      break;
  }
  return " ";
}

std::string function_of(const CommandDescription& command) {
  std::string name = command.path();
  std::ranges::replace(name, ' ', '_');
  return "_" + name;
}

void add_option(std::string& script, const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  for (const std::string& name : option.names) {
    const std::string value = option.value.empty()
                                  ? ""
                                  : fmt::format("{}:{}:{}", option.value_is_optional ? ":" : "",
                                                specification_text(option.value), action(option));
    const char* glue = option.value.empty()       ? ""
                       : option.value_is_optional ? "=-"
                       : name.starts_with("--")   ? "="
                                                  : "+";
    script += fmt::format("    '{}{}{}[{}]{}' \\\n", option.repeatable ? "*" : "(" + names + ")", name, glue,
                          specification_text(option.text), value);
  }
}

std::string function_text(const CommandDescription& command) {
  std::string script = function_of(command) + "() {\n";
  if (!command.subcommands.empty())
    script += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n";
  script += "  _arguments -S -s -C \\\n";
  for (const OptionDescription& option : command.options) add_option(script, option);
  if (!command.subcommands.empty()) {
    script +=
        "    '1:subcommand:->subcommand' \\\n    '*::argument:->argument'\n  case $state in\n    "
        "subcommand)\n";
    script += "      local -a subcommands=(\n";
    for (const CommandDescription& sub : command.subcommands)
      script += fmt::format("        '{}:{}'\n", sub.words.back(), specification_text(sub.summary));
    script += "      )\n      _describe subcommand subcommands ;;\n    argument)\n      case $line[1] in\n";
    for (const CommandDescription& sub : command.subcommands)
      script += fmt::format("        {}) {} ;;\n", sub.words.back(), function_of(sub));
    return script + "      esac ;;\n  esac\n}\n\n";
  }
  for (const OptionDescription& positional : command.positionals) {
    if (positional.kind == ValueKind::Program) {
      script += "    '(-)1:program:_command_names -e' '*::argument:_normal' \\\n";
    } else {
      script += fmt::format("    '{}:{}:{}' \\\n", positional.repeatable ? "*" : "",
                            specification_text(positional.value), action(positional));
    }
  }
  script.erase(script.size() - 3);  // the last " \\\n"
  return script + "\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandDescription& root) {
  std::string script =
      "#compdef prof\n# Completion of prof for Zsh; made by `prof completion zsh`.\n\n"
      "_prof_events() {\n"
      "  local -a events=(${(f)\"$(prof list events --format=names 2>/dev/null)\"})\n"
      "  compadd -a events\n"
      "}\n\n";
  for_each_command(root, [&](const CommandDescription& command) { script += function_text(command); });
  return script + "if [[ $funcstack[1] == _prof ]]; then _prof \"$@\"; else compdef _prof prof; fi\n";
}

}  // namespace prof
