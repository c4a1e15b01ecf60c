#pragma once
// Defaults of options from outside the command line. The first that has a value wins:
//   1. the command line
//   2. the environment: PROF_RUN_EVENT for --event of `prof run`
//   3. .prof.toml of the current directory, or of the nearest parent that has one, up to the root of the
//      repository or the home directory
//   4. $XDG_CONFIG_HOME/prof/config.toml, or ~/.config/prof/config.toml
// A file is TOML, with a table for each subcommand and the long names of options as keys. Files that belong
// to somebody else than the user or root, and links of somebody else, are left out, with a line that says so.
// The file of 3. comes with a project, and may set less than the others do (setting_scopes.h).

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace prof {

struct Setting {
  std::string key;                  // "run.no-analyze"
  std::vector<std::string> values;  // several for a list
  std::string origin;               // "PROF_RUN_NO_ANALYZE", "/home/me/.prof.toml:3"
  bool effective = true;            // false if refused, or if one that comes before has the same key
  bool refused = false;             // a project's file may not set it
};

struct SettingsFile {
  std::filesystem::path path;
  bool is_of_project = false;  // else it is the user's own

  bool operator==(const SettingsFile&) const = default;
};

// The files of 3. and 4. that exist, in this order.
std::vector<SettingsFile> settings_files(const std::filesystem::path& working_directory);

// All that is set outside the command line, in order of precedence. `root` declares what can be set. Throws
// CommandError (125), one line with file, line and the nearest name, for a key that is none, a value of the
// wrong kind, and a file that is not TOML. What a file may not set has a line on standard error, is marked as
// refused, and sets nothing.
std::vector<Setting> read_settings(const CLI::App& root, const std::vector<SettingsFile>& files);

// False where nothing that is set could matter to the subcommand that is being used, so that `prof help`
// works beside a settings file that does not.
bool takes_settings(const CLI::App& root);

// Gives the options of the subcommands that are being used and that the command line did not give their
// settings. Throws CommandError (125) that names the origin of a value which the option does not take.
void apply_settings(CLI::App& root, const std::vector<Setting>& settings);

}  // namespace prof
