#pragma once
// What CLI11's declarations do not say about a command: when to use it, how it ends, examples. Every command
// has a row; a test fails for one that has no example.

#include <string>
#include <string_view>
#include <vector>

namespace prof {

struct Example {
  std::string command;
  std::string text;  // what it does, a phrase
};

struct CommandText {
  std::vector<std::string> paragraphs;  // below the usage
  std::vector<Example> examples;
  std::string page;  // of the documentation, "docs/run.md"
};

// The text of "prof run"; empty for a command that has none.
CommandText command_text(std::string_view path);

// What the exit statuses of every command mean, for the manual pages.
struct ExitStatus {
  std::string status;
  std::string meaning;
};
const std::vector<ExitStatus>& exit_statuses();

}  // namespace prof
