#include "prof/command_line/help_commands.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/files/folder.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/command_line/completion.h"
#include "prof/command_line/help_text.h"
#include "prof/command_line/manual_page.h"
#include "prof/command_line/misuse.h"
#include "prof/command_line/setting_names.h"
#include "prof/command_line/setting_scopes.h"
#include "prof/command_line/settings.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

enum class HelpFormat : uint8_t { Text, Man, Json };
enum class Shell : uint8_t { Bash, Zsh, Fish };
enum class ConfigFormat : uint8_t { Text, Json };

struct HelpCommand {
  std::vector<std::string> words;
  HelpFormat format = HelpFormat::Text;
  std::string directory;
};

const std::map<std::string, HelpFormat> kHelpFormats = {
    {"text", HelpFormat::Text}, {"man", HelpFormat::Man}, {"json", HelpFormat::Json}};
const std::map<std::string, Shell> kShells = {
    {"bash", Shell::Bash}, {"zsh", Shell::Zsh}, {"fish", Shell::Fish}};
const std::map<std::string, ConfigFormat> kConfigFormats = {{"text", ConfigFormat::Text},
                                                            {"json", ConfigFormat::Json}};

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);  // main() checks for errors
}

CommandDescription find_command(const CLI::App& app, const std::vector<std::string>& words) {
  CommandDescription found = describe(app);
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CommandDescription* next = nullptr;
    for (const CommandDescription& sub : found.subcommands) {
      names.push_back(sub.words.back());
      if (sub.words.back() == word) next = &sub;
    }
    if (!next)
      fail(kOwnFailure, "there is no help for '{} {}'{}", found.path(), word,
           names.empty() ? "; see " + found.path() + " --help" : nearest_or_all(word, names));
    found = CommandDescription(*next);
  }
  return found;
}

void write_manual_pages(const CommandDescription& command, const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  for_each_command(command, [&](const CommandDescription& one) {
    const fs::path file = directory / (manual_page_name(one) + ".1");
    try {
      NewFile page = NewFile::beside(file, FolderOwner::Any, 0666);
      page.write(manual_page(one));
      page.keep();
    } catch (const WriteError& failure) {
      fail(kOwnFailure, "cannot write {}: {}", file.string(), failure.code().message());
    }
  });
}

void help(const CLI::App& app, const HelpCommand& options) {
  const CommandDescription command = find_command(app, options.words);
  if (!options.directory.empty()) return write_manual_pages(command, options.directory);
  switch (options.format) {
    case HelpFormat::Text:
      return print(help_text(command));
    case HelpFormat::Man:
      return print(manual_page(command));
    case HelpFormat::Json:
      return print(help_as_json(command));
  }
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

void print_settings(const std::vector<Setting>& settings, ConfigFormat format) {
  if (format == ConfigFormat::Text) {
    for (const Setting& setting : settings)
      print(fmt::format("{} = {}  ({}{})\n", printable(setting.key), printable(joined(setting.values)),
                        printable(setting.origin),
                        setting.refused     ? "; refused"
                        : setting.effective ? ""
                                            : "; overridden"));
    return;
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Setting& setting : settings)
    rows.push_back({{"key", setting.key},
                    {"values", setting.values},
                    {"origin", setting.origin},
                    {"effective", setting.effective},
                    {"refused", setting.refused}});
  const nlohmann::ordered_json json = {{"schema", "prof-config/1"}, {"settings", rows}};
  print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void print_all_keys(const CLI::App& app) {
  for_each_command(describe(app), [](const CommandDescription& command) {
    for (const OptionDescription& option : command.options) {
      if (!option.is_setting) continue;
      const std::string key = setting_key(command, option);
      const bool is_of_projects = setting_scope(key) == SettingScope::Project;
      print(fmt::format("{:<28} {:<34} {:<8} {}\n", key, setting_variable(command, option),
                        is_of_projects ? "project" : "personal", option.text));
    }
  });
}

}  // namespace

void add_help_command(CLI::App& app, int& status) {
  auto options = std::make_shared<HelpCommand>();
  CLI::App* command = app.add_subcommand("help", "Show the help of a command");
  command->add_option("command", options->words, "Command: run, list events, ...")->type_name("COMMAND");
  command->add_option("--format", options->format, "Output format: text, man (for man(1)) or json")
      ->transform(choice(kHelpFormats))
      ->type_name("FORMAT")
      ->configurable(false);
  command->add_option("--man-pages", options->directory, "Write the manual pages of all commands to DIR")
      ->type_name("DIR")
      ->configurable(false);
  command->callback([&app, options, &status] {
    help(app, *options);
    status = 0;
  });
}

void add_completion_command(CLI::App& app, int& status) {
  auto shell = std::make_shared<Shell>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->add_option("shell", *shell, "Shell")->transform(choice(kShells))->required()->type_name("SHELL");
  command->callback([&app, shell, &status] {
    const CommandDescription root = describe(app);
    switch (*shell) {
      case Shell::Bash:
        print(bash_completion(root));
        break;
      case Shell::Zsh:
        print(zsh_completion(root));
        break;
      case Shell::Fish:
        print(fish_completion(root));
        break;
    }
    status = 0;
  });
}

void add_config_command(CLI::App& app, int& status) {
  struct Options {
    bool all = false;
    ConfigFormat format = ConfigFormat::Text;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("config", "Show the settings in effect and their origin");
  command->add_flag("--all", options->all, "List every setting and its variable")->configurable(false);
  command->add_option("--format", options->format, "Output format: text or json")
      ->transform(choice(kConfigFormats))
      ->type_name("FORMAT")
      ->configurable(false);
  command->callback([&app, options, &status] {
    std::error_code error;
    if (options->all) {
      print_all_keys(app);
    } else {
      print_settings(read_settings(app, settings_files(fs::current_path(error))), options->format);
    }
    status = 0;
  });
}

}  // namespace prof
