#include "prof/command_line/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "analysis/words/nearest_name.h"
#include "hpcrun/measurement/regular_file.h"
#include "prof/base/message.h"
#include "prof/command_line/description.h"
#include "prof/command_line/misuse.h"
#include "prof/command_line/setting_names.h"
#include "prof/command_line/setting_scopes.h"
#include "prof/command_line/toml.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

struct Known {
  bool takes_list = false;
  bool is_flag = false;
  std::string variable;
};
using KnownSettings = std::map<std::string, Known>;  // by key

KnownSettings known_settings(const CLI::App& root) {
  KnownSettings known;
  for_each_command(describe(root), [&](const CommandDescription& command) {
    for (const OptionDescription& option : command.options) {
      if (!option.is_setting) continue;
      known[setting_key(command, option)] = {option.repeatable, option.value.empty(),
                                             setting_variable(command, option)};
    }
  });
  return known;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Warns of a variable whose name is close to that of a setting. A misspelt variable would be ignored
// silently.
void warn_of_misspelt(const KnownSettings& known) {
  std::vector<std::string> variables;
  for (const auto& [key, setting] : known) variables.push_back(setting.variable);
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const size_t command = name.find('_', sizeof "PROF");
    if (!name.starts_with("PROF_") || command == name.npos || std::ranges::count(variables, name)) continue;
    const std::string_view prefix = name.substr(0, command + 1);
    if (std::ranges::none_of(variables, [&](const std::string& one) { return one.starts_with(prefix); }))
      continue;
    if (const std::string nearest = nearest_name(name, variables); !nearest.empty())
      say("{} is not a setting and is ignored; did you mean {}?", name, nearest);
  }
}

void read_environment(const KnownSettings& known, std::vector<Setting>& settings) {
  warn_of_misspelt(known);
  for (const auto& [key, setting] : known) {
    const char* value = getenv(setting.variable.c_str());
    if (!value || !*value) continue;
    settings.push_back({key, setting.takes_list ? split_at_commas(value) : std::vector<std::string>{value},
                        setting.variable});
  }
}

class FileReader {
 public:
  FileReader(const KnownSettings& known, const SettingsFile& file, std::vector<Setting>& settings)
      : known_(known), file_(file.path.string()), is_of_project_(file.is_of_project), settings_(settings) {}

  void read() {
    const std::optional<std::string> text = read_regular_file(file_);
    if (!text) fail(kOwnFailure, "{}: permission denied; make it readable, or remove it", file_);
    try {
      const toml::table document = toml::parse(*text, file_);
      read_table(document, "");
    } catch (const toml::parse_error& error) {
      fail(kOwnFailure, "{}:{}: invalid TOML: {}", file_, error.source().begin.line, error.description());
    }
  }

 private:
  void read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      if (const toml::table* inner = node.as_table()) {
        if (known_.contains(key)) refuse(node, key, "expected a value, not a table");
        if (!has_keys_below(key)) refuse_unknown(name.source().begin.line, key, true);
        read_table(*inner, key + ".");
      } else {
        const auto found = known_.find(key);
        if (found == known_.end()) refuse_unknown(name.source().begin.line, key, false);
        const std::string origin = fmt::format("{}:{}", file_, name.source().begin.line);
        const bool is_refused = is_of_project_ && setting_scope(key) == SettingScope::Personal;
        if (is_refused) say_refused(origin, key, found->second);
        settings_.push_back({key, values_of(node, key, found->second), origin, !is_refused, is_refused});
      }
    }
  }

  static void say_refused(const std::string& origin, const std::string& key, const Known& known) {
    say("{}: {} is ignored: a project's file may not set where files are written, or what is loaded or "
        "executed; set it with --{}, {} or your own config.toml",
        origin, key, key.substr(key.rfind('.') + 1), known.variable);
  }

  std::vector<std::string> values_of(const toml::node& node, const std::string& key,
                                     const Known& known) const {
    std::vector<std::string> values;
    if (const toml::array* array = node.as_array()) {
      if (!known.takes_list) refuse(node, key, "expected one value, not a list");
      for (const toml::node& element : *array) values.push_back(value_of(element, key, known));
    } else {
      values.push_back(value_of(node, key, known));
    }
    return values;
  }

  std::string value_of(const toml::node& node, const std::string& key, const Known& known) const {
    if (known.is_flag && !node.is_boolean()) refuse(node, key, "expected true or false");
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean(); flag && known.is_flag) return flag->get() ? "true" : "false";
    refuse(node, key, known.is_flag ? "expected true or false" : "expected text or a number");
  }

  bool has_keys_below(const std::string& table) const {
    const auto first = known_.lower_bound(table + ".");
    return first != known_.end() && first->first.starts_with(table + ".");
  }

  [[noreturn]] void refuse(const toml::node& node, const std::string& key, const char* what) const {
    fail(kOwnFailure, "{}:{}: {}: {}", file_, node.source().begin.line, key, what);
  }

  [[noreturn]] void refuse_unknown(size_t line, const std::string& key, bool is_table) const {
    std::vector<std::string> names;
    for (const auto& [name, setting] : known_)
      names.push_back(is_table ? name.substr(0, name.rfind('.')) : name);
    const std::string nearest = did_you_mean(key, names);
    fail(kOwnFailure, "{}:{}: unknown setting {}{}", file_, line, key,
         nearest.empty() ? "; `prof config --all` lists them" : nearest);
  }

  const KnownSettings& known_;
  std::string file_;
  bool is_of_project_;
  std::vector<Setting>& settings_;
};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

bool is_trusted(const struct stat& status) {
  return status.st_uid == geteuid() || status.st_uid == 0;
}

// True if the file, and a link to it, belong to the user or root. A link of anyone else would choose which of
// the user's files is read.
bool is_ours(const fs::path& file) {
  struct stat link {};
  if (lstat(file.c_str(), &link) != 0) return false;
  const RegularFile opened(file);
  if (!opened.is_open()) {
    say("{} is ignored: {}", file.string(), opened.reason());
  } else if (!is_trusted(opened.status())) {
    say("{} is ignored: it belongs to another user; change its owner with chown, or remove it",
        file.string());
  } else if (!is_trusted(link)) {
    say("{} is ignored: the link belongs to another user; remove the link", file.string());
  } else {
    return true;
  }
  return false;
}

fs::path user_file() {
  const char* config = getenv("XDG_CONFIG_HOME");
  if (config && *config == '/') return fs::path(config) / "prof/config.toml";
  const char* home = getenv("HOME");
  return home && *home ? fs::path(home) / ".config/prof/config.toml" : fs::path();
}

void apply(CLI::App& command, CLI::Option& option, const Setting& setting) {
  try {
    if (option.get_items_expected_max() == 0) {
      option.add_result(option.get_flag_value("--" + option.get_lnames().front(), setting.values.front()));
    } else {
      option.add_result(setting.values);
    }
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    std::string what = format_value(option, error);
    if (what.empty()) what = error.what();
    fail(kOwnFailure, "{}: {}{} prof {} --help", setting.origin, what, what.ends_with('?') ? " See" : "; see",
         command.get_name());
  }
}

void apply_below(CLI::App& command, const std::string& prefix, const std::vector<Setting>& settings) {
  for (CLI::App* sub : command.get_subcommands()) {
    const std::string path = prefix + sub->get_name() + ".";
    for (const Setting& setting : settings) {
      if (!setting.effective || !setting.key.starts_with(path)) continue;
      CLI::Option* option = sub->get_option_no_throw("--" + setting.key.substr(path.size()));
      if (option && option->count() == 0 && !setting.values.empty()) apply(*sub, *option, setting);
    }
    apply_below(*sub, path, settings);
  }
}

}  // namespace

std::vector<SettingsFile> settings_files(const fs::path& working_directory) {
  std::vector<SettingsFile> files;
  const char* variable = getenv("HOME");
  const fs::path home = variable ? variable : "";
  for (fs::path at = working_directory; !at.empty(); at = at.parent_path()) {
    if (is_there(at / ".prof.toml")) {
      files.push_back({at / ".prof.toml", true});
      break;
    }
    if (is_there(at / ".git") || at == home || at == at.parent_path()) break;
  }
  if (const fs::path file = user_file(); !file.empty() && is_there(file)) files.push_back({file, false});
  std::erase_if(files, [](const SettingsFile& file) { return !is_ours(file.path); });
  return files;
}

std::vector<Setting> read_settings(const CLI::App& root, const std::vector<SettingsFile>& files) {
  const KnownSettings known = known_settings(root);
  std::vector<Setting> settings;
  read_environment(known, settings);
  for (const SettingsFile& file : files) FileReader(known, file, settings).read();
  for (size_t i = 0; i < settings.size(); ++i)
    settings[i].effective =
        !settings[i].refused &&
        std::none_of(settings.begin(), settings.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const Setting& other) { return !other.refused && other.key == settings[i].key; });
  return settings;
}

bool takes_settings(const CLI::App& command) {
  const auto used = command.get_subcommands();
  if (std::ranges::any_of(used, [](const CLI::App* sub) { return takes_settings(*sub); })) return true;
  return command.get_parent() && std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
           return describe(*option).is_setting;
         });
}

void apply_settings(CLI::App& root, const std::vector<Setting>& settings) {
  apply_below(root, "", settings);
}

}  // namespace prof
