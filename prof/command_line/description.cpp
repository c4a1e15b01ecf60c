#include "prof/command_line/description.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "prof/command_line/optional_values.h"

namespace prof {
namespace {

// The type names with which options are declared, if a shell can offer values.
constexpr std::array<std::pair<std::string_view, ValueKind>, 12> kKinds = {{
    {"DIR", ValueKind::Directory},
    {"DATABASE", ValueKind::Directory},
    {"DATABASE|DIR", ValueKind::Directory},
    {"BEFORE", ValueKind::Directory},
    {"AFTER", ValueKind::Directory},
    {"FILE", ValueKind::File},
    {"EVENT[@RATE]", ValueKind::Event},
    {"EVENT", ValueKind::Event},
    {"PID", ValueKind::Process},
    {"PID|DIR", ValueKind::Process},
    {"PROGRAM", ValueKind::Program},
    {"PROGRAM [ARGUMENT]...", ValueKind::Program},
}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

bool is_about_help(const OptionDescription& option) {
  return option.long_name == "help" || option.long_name == "help-all" || option.long_name == "version";
}

}  // namespace

std::string CommandDescription::path() const {
  std::string path;
  for (const std::string& word : words) path += (path.empty() ? "" : " ") + word;
  return path;
}

OptionDescription describe(const CLI::Option& option) {
  OptionDescription described;
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  if (!option.get_lnames().empty()) described.long_name = option.get_lnames().front();
  described.text = sentence(option.get_description());
  described.required = option.get_required();
  described.value_is_optional = !value_left_out(option).empty();
  described.repeatable = option.get_expected_max() > 1;

  const bool is_flag = option.get_items_expected_max() == 0;
  // CLI11 appends the validators' descriptions to the type; choice() has "one|other" (prof/base/choice.h).
  const std::string type = is_flag ? "" : option.get_type_name();
  const size_t colon = type.find(':');
  described.value = type.substr(0, colon);
  if (option.get_positional() && (described.value.empty() || described.value == "TEXT"))
    described.value = option.get_name(true);
  for (const auto& [name, kind] : kKinds)
    if (described.value == name) described.kind = kind;
  if (colon != std::string::npos && described.kind == ValueKind::Other) {
    described.choices = split(type.substr(colon + 1), '|');
    described.kind = ValueKind::Choice;
  }
  described.is_setting = !described.long_name.empty() && !described.required && !option.get_positional() &&
                         option.get_configurable() && !option.get_group().empty() &&
                         !is_about_help(described);
  return described;
}

CommandDescription describe(const CLI::App& command) {
  CommandDescription described;
  for (const CLI::App* at = &command; at; at = at->get_parent())
    described.words.insert(described.words.begin(), at->get_name());
  described.summary = command.get_description();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    auto& list = option->get_positional() ? described.positionals : described.options;
    list.push_back(describe(*option));
  }
  // Not std::ranges': clang 14 cannot compile its return type in libstdc++.
  std::stable_partition(described.options.begin(), described.options.end(),
                        [](const OptionDescription& option) { return !is_about_help(option); });
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) described.subcommands.push_back(describe(*sub));
  described.text = command_text(described.path());
  return described;
}

std::string usage(const CommandDescription& command) {
  std::string text = command.path() + " [options]";
  for (const OptionDescription& option : command.options) {
    if (!option.required) continue;
    text.append(" ").append(option.names.back());
    if (!option.value.empty()) text.append("=").append(option.value);
  }
  if (!command.subcommands.empty()) text += " SUBCOMMAND ...";
  for (const OptionDescription& positional : command.positionals) {
    const bool is_program = positional.kind == ValueKind::Program && positional.repeatable;
    std::string word = positional.value;
    if (positional.repeatable && !is_program) word += "...";
    if (!positional.required) word = "[" + word + "]";
    text += is_program ? " [--] " + word : " " + word;
  }
  return text;
}

}  // namespace prof
