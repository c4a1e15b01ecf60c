#include "prof/command_line/manual_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "prof/command_line/setting_names.h"

namespace prof {
namespace {

// Escapes text for roff: no control characters at the start of a line, and dashes that can be copied.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string paragraph(const std::string& label, const std::string& text) {
  return ".TP\n" + label + "\n" + (text.empty() ? "\\&" : text) + "\n";
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string full_stop(const std::string& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

std::string option_label(const OptionDescription& option) {
  std::string label;
  for (const std::string& name : option.names) {
    label += (label.empty() ? "" : ", ") + bold(name);
    if (option.value_is_optional)
      label += "[=" + italic(option.value) + "]";
    else if (!option.value.empty())
      label += (name.starts_with("--") ? "=" : " ") + italic(option.value);
  }
  return label;
}

std::string sections_of_options(const CommandDescription& command) {
  std::string page;
  if (!command.positionals.empty()) {
    page += ".SH ARGUMENTS\n";
    for (const OptionDescription& positional : command.positionals)
      page += paragraph(italic(positional.value), roff(full_stop(positional.text)));
  }
  page += ".SH OPTIONS\n";
  for (const OptionDescription& option : command.options)
    page += paragraph(option_label(option), roff(full_stop(option.text)));
  return page;
}

std::string section_of_settings(const CommandDescription& command) {
  std::string page;
  for (const OptionDescription& option : command.options) {
    if (!option.is_setting) continue;
    page += paragraph(bold(setting_variable(command, option)) + ", " + bold(setting_key(command, option)),
                      "As " + bold("--" + option.long_name) + ".");
  }
  if (page.empty()) return page;
  return ".SH SETTINGS\nThese environment variables, and these keys of .prof.toml or of the user's "
         "config.toml, set defaults of options. The first that is set counts.\n" +
         page;
}

std::string section_of_others(const CommandDescription& command, const CommandDescription* parent) {
  std::string others;
  if (parent) others += bold(manual_page_name(*parent)) + "(1)";
  for (const CommandDescription& sub : command.subcommands)
    others += (others.empty() ? "" : ",\n") + bold(manual_page_name(sub)) + "(1)";
  if (!command.text.page.empty()) others += (others.empty() ? "" : ",\n") + roff(command.text.page);
  return others.empty() ? others : ".SH SEE ALSO\n" + others + "\n";
}

nlohmann::ordered_json as_json(const OptionDescription& option) {
  nlohmann::ordered_json json;
  if (!option.names.empty()) json["names"] = option.names;
  json["value"] = option.value;
  json["text"] = option.text;
  json["choices"] = option.choices;
  json["required"] = option.required;
  json["repeatable"] = option.repeatable;
  return json;
}

nlohmann::ordered_json as_json(const CommandDescription& command) {
  nlohmann::ordered_json json = {{"command", command.path()}, {"summary", command.summary}};
  json["usage"] = usage(command);
  json["arguments"] = nlohmann::ordered_json::array();
  for (const OptionDescription& positional : command.positionals)
    json["arguments"].push_back(as_json(positional));
  json["options"] = nlohmann::ordered_json::array();
  for (const OptionDescription& option : command.options) {
    json["options"].push_back(as_json(option));
    if (!option.is_setting) continue;
    json["options"].back()["variable"] = setting_variable(command, option);
    json["options"].back()["key"] = setting_key(command, option);
  }
  json["examples"] = nlohmann::ordered_json::array();
  for (const Example& example : command.text.examples)
    json["examples"].push_back({{"command", example.command}, {"text", example.text}});
  json["page"] = command.text.page;
  return json;
}

}  // namespace

std::string manual_page_name(const CommandDescription& command) {
  std::string name = command.path();
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string manual_page(const CommandDescription& command) {
  const std::string name = manual_page_name(command);
  std::string page =
      fmt::format(".TH {} 1 \"\" \"prof {}\" \"prof\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
                  upper(roff(name)), PROF_VERSION, roff(name), roff(command.summary), bold(usage(command)));
  page += ".SH DESCRIPTION\n" + roff(full_stop(command.summary)) + "\n";
  for (const std::string& text : command.text.paragraphs) page += ".PP\n" + roff(text) + "\n";
  if (!command.subcommands.empty()) {
    page += ".SH SUBCOMMANDS\n";
    for (const CommandDescription& sub : command.subcommands)
      page += paragraph(bold(sub.words.back()), roff(full_stop(sub.summary)));
  }
  page += sections_of_options(command) + section_of_settings(command);
  page += ".SH EXIT STATUS\n";
  for (const ExitStatus& status : exit_statuses())
    page += paragraph(bold(status.status), roff(status.meaning));
  if (!command.text.examples.empty()) {
    page += ".SH EXAMPLES\n";
    for (const Example& example : command.text.examples)
      page += ".PP\n" + roff(full_stop(example.text)) + "\n.PP\n.RS 4\n.nf\n" + roff(example.command) +
              "\n.fi\n.RE\n";
  }
  CommandDescription parent;
  parent.words.assign(command.words.begin(), command.words.end() - 1);
  return page + section_of_others(command, parent.words.empty() ? nullptr : &parent);
}

std::string help_as_json(const CommandDescription& command) {
  nlohmann::ordered_json commands = nlohmann::ordered_json::array();
  for_each_command(command, [&](const CommandDescription& one) { commands.push_back(as_json(one)); });
  const nlohmann::ordered_json json = {{"schema", "prof-help/1"}, {"commands", commands}};
  return json.dump(2) + "\n";
}

}  // namespace prof
