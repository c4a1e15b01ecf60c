#pragma once
// Who may set an option by a file. The .prof.toml of a project comes with the project: whoever profiles a
// clone of it has not chosen what it says. So it may choose what is measured and shown, and never where files
// are written, which files are loaded, or what is executed or changed.

#include <cstdint>
#include <string_view>
#include <vector>

namespace prof {

enum class SettingScope : uint8_t {
  Project,   // .prof.toml, and wherever Personal ones may be set
  Personal,  // the user's config.toml, the environment and the command line
};

struct ScopedSetting {
  std::string_view key;  // "run.event"
  SettingScope scope;
};

// Every setting there is, in the order of `prof config --all`; a test compares it with what commands declare.
const std::vector<ScopedSetting>& scoped_settings();

// Returns the scope of a setting; Personal for a key that has no row.
SettingScope setting_scope(std::string_view key);

}  // namespace prof
