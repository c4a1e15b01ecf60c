#pragma once
// Determines which settings file may set an option. The .prof.toml of a project comes with the project, and
// its contents were not chosen by the user who profiles a clone of it. Therefore it may choose what is
// measured and shown. It may never choose where files are written, which files are loaded, or what is
// executed or changed.

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof {

enum class SettingScope : uint8_t {
  Project,   // .prof.toml, and every place that may set Personal ones
  Personal,  // the user's config.toml, the environment and the command line
};

struct ScopedSetting {
  std::string_view key;  // "run.event"
  SettingScope scope;
};

// Lists every setting in the order of `prof config --all`. A test compares it with the declarations of the
// commands.
const std::vector<ScopedSetting>& scoped_settings();

// Returns the scope of a setting; Personal for a key that has no row.
SettingScope setting_scope(std::string_view key);

}  // namespace prof
