#pragma once
// The names of an option in the environment and in settings files.

#include <string>

#include "prof/command_line/description.h"

namespace prof {

// Returns "PROF_RUN_NO_ANALYZE" for --no-analyze of `prof run`.
std::string setting_variable(const CommandDescription& command, const OptionDescription& option);
// Returns "run.no-analyze": the key no-analyze in the table [run].
std::string setting_key(const CommandDescription& command, const OptionDescription& option);

}  // namespace prof
