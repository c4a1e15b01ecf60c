#pragma once
// The manual page of a command, and all help as JSON.

#include <string>

#include "prof/command_line/description.h"

namespace prof {

// Returns source for man(1): prof.1 for "prof", prof-run.1 for "prof run", ...
std::string manual_page(const CommandDescription& command);
std::string manual_page_name(const CommandDescription& command);  // "prof-run"

// Returns {"schema": "prof-help/1", "commands": [...]}, outermost command first; docs/json.md describes it.
std::string help_as_json(const CommandDescription& command);

}  // namespace prof
