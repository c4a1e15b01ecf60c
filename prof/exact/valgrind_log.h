#pragma once
// What Valgrind and the tool of `prof exact` report about a program that they ran.

#include <optional>
#include <string>
#include <string_view>

namespace prof {

// Returns the first problem in a log as one line that names the cause and, where there is one, the remedy.
// std::nullopt if the log has none.
std::optional<std::string> problem_in_valgrind_log(std::string_view log);

}  // namespace prof
