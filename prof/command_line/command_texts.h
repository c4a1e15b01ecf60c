#pragma once
// Help that CLI11's declarations do not contain: when to use a command, how it ends, examples. Every command
// has a row. A test fails for a command without an example.

#include <string>
#include <string_view>
#include <vector>

namespace prof {

struct Example {
  std::string command;
  std::string text;  // what it does, as a phrase
};

struct CommandText {
  std::vector<std::string> paragraphs;  // below the usage
  std::vector<Example> examples;
  std::string page;  // in the documentation, "docs/run.md"
};

// Returns the text of "prof run"; empty for a command without one.
CommandText command_text(std::string_view path);

// The exit statuses of every command, for the manual pages.
struct ExitStatus {
  std::string status;
  std::string meaning;
};
const std::vector<ExitStatus>& exit_statuses();

}  // namespace prof
