#pragma once
// Defaults of options from outside the command line. The first source that has a value wins:
//   1. the command line
//   2. the environment: PROF_RUN_EVENT for --event of `prof run`
//   3. .prof.toml of the current directory, or of the nearest parent that has one, up to the root of the
//      repository or the home directory
//   4. $XDG_CONFIG_HOME/prof/config.toml, or ~/.config/prof/config.toml
// A file is TOML, with a table for each subcommand and the long names of options as keys. Files that belong
// to anyone but the user or root, and links of anyone else, are ignored with a warning. The file of 3. comes
// with a project, and may set less than the other sources (setting_scopes.h).

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace prof {

struct Setting {
  std::string key;                  // "run.no-analyze"
  std::vector<std::string> values;  // several for a list
  std::string origin;               // "PROF_RUN_NO_ANALYZE", "/home/me/.prof.toml:3"
  bool effective = true;            // false if refused, or if an earlier source has the same key
  bool refused = false;             // the file of a project may not set it
};

struct SettingsFile {
  std::filesystem::path path;
  bool is_of_project = false;  // otherwise it is the user's own

  bool operator==(const SettingsFile&) const = default;
};

// Returns the files of 3. and 4. that exist, in this order.
std::vector<SettingsFile> settings_files(const std::filesystem::path& working_directory);

// Returns all settings from outside the command line, in order of precedence. `root` declares the options.
// Throws CommandError (125), one line with file, line and the nearest name, for an unknown key, a value of
// the wrong kind, and a file that is not TOML. A setting that its file may not set is reported on standard
// error, marked as refused, and has no effect.
std::vector<Setting> read_settings(const CLI::App& root, const std::vector<SettingsFile>& files);

// Returns false if no setting can affect the subcommand that is used, so that `prof help` works even if a
// settings file is invalid.
bool takes_settings(const CLI::App& root);

// Applies settings to the options of the used subcommands that the command line does not set. Throws
// CommandError (125) with the origin of a value that the option does not accept.
void apply_settings(CLI::App& root, const std::vector<Setting>& settings);

}  // namespace prof
