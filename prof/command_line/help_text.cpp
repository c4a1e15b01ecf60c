#include "prof/command_line/help_text.h"

#include <fmt/format.h>

#include <memory>

#include "prof/base/terminal.h"

namespace prof {
namespace {

constexpr size_t kColumns = 100;
// The text of a longer label begins on the next line.
constexpr size_t kLongestName = 30;
constexpr size_t kLongestExample = 52;

// Returns " label text", with the text wrapped in its column.
std::string entry(const std::string& label, const std::string& text, size_t label_columns) {
  std::string lines = "  " + label;
  size_t at = label.size();
  if (text.empty()) return lines + "\n";
  if (at > label_columns) {
    lines += "\n  ";
    at = 0;
  }
  for (const std::string& line : wrap(text, kColumns - label_columns - 4)) {
    if (at == std::string::npos) lines += "\n  ", at = 0;
    lines += std::string(label_columns - at + 2, ' ') + line;
    at = std::string::npos;
  }
  return lines + "\n";
}

struct Entry {
  std::string label;
  std::string text;
};

std::string section(const std::string& title, const std::vector<Entry>& entries, size_t longest_label) {
  if (entries.empty()) return {};
  size_t columns = 0;
  for (const Entry& one : entries)
    if (one.label.size() <= longest_label) columns = std::max(columns, one.label.size());
  std::string text = "\n" + title + ":\n";
  for (const Entry& one : entries) text += entry(one.label, one.text, columns);
  return text;
}

std::string label_of(const OptionDescription& option) {
  // Long names are aligned after the short ones.
  std::string label = option.names.front().starts_with("--") ? "    " : "";
  for (const std::string& name : option.names) label += (&name == &option.names.front() ? "" : ", ") + name;
  if (option.value_is_optional) return label + "[=" + option.value + "]";
  return option.value.empty() ? label : label + " " + option.value;
}

std::string text_of(const OptionDescription& option) {
  std::string text = option.text;
  if (option.required) text += " (required)";
  return text;
}

std::string sentence_of(const std::string& phrase) {
  return phrase.ends_with('.') ? phrase : phrase + ".";
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    const CommandDescription command = describe(*app);
    if (mode != CLI::AppFormatMode::All) return help_text(command);
    std::string text;
    for_each_command(command, [&](const CommandDescription& one) {
      text += (text.empty() ? "" : "\n\n") + help_text(one);
    });
    return text;
  }
};

}  // namespace

std::string help_text(const CommandDescription& command) {
  std::string text = "Usage: " + usage(command) + "\n\n" + sentence_of(command.summary) + "\n";
  for (const std::string& paragraph : command.text.paragraphs) {
    text += "\n";
    for (const std::string& line : wrap(paragraph, kColumns)) text += line + "\n";
  }
  std::vector<Entry> entries;
  for (const OptionDescription& positional : command.positionals)
    entries.push_back({positional.value, positional.text});
  text += section("Arguments", entries, kLongestName);
  entries.clear();
  for (const CommandDescription& sub : command.subcommands)
    entries.push_back({sub.words.back(), sub.summary});
  text += section("Subcommands", entries, kLongestName);
  entries.clear();
  for (const OptionDescription& option : command.options)
    entries.push_back({label_of(option), text_of(option)});
  text += section("Options", entries, kLongestName);
  entries.clear();
  for (const Example& example : command.text.examples) entries.push_back({example.command, example.text});
  text += section("Examples", entries, kLongestExample);
  if (!command.text.page.empty()) text += fmt::format("\nMore: {}\n", command.text.page);
  return text;
}

void use_help_text(CLI::App& app) {
  static const auto formatter = std::make_shared<HelpFormatter>();
  app.formatter(formatter);
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) use_help_text(*sub);
}

}  // namespace prof
