#include "prof/command_line/optional_values.h"

namespace prof {
namespace {

// Returns the subcommand of this name, or nullptr.
const CLI::App* subcommand(const CLI::App& command, const std::string& name) {
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; }))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

}  // namespace

// CLI11 keeps the value for help texts of its own, which are not used.
void make_value_optional(CLI::Option& option, const std::string& value) {
  option.default_str(value);
}

std::string value_left_out(const CLI::Option& option) {
  return option.get_default_str();
}

std::vector<std::string> with_values_left_out(const CLI::App& root, int argc, const char* const* argv) {
  std::vector<std::string> words(argv, argv + argc);
  const CLI::App* command = &root;
  for (size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) {
      const CLI::App* const sub = subcommand(*command, words[i]);
      if (!sub) break;  // the program to run, whose words are its own
      command = sub;
      continue;
    }
    if (words[i] == "--") break;
    const CLI::Option* const option = command->get_option_no_throw(words[i]);
    if (!option) continue;
    if (const std::string value = value_left_out(*option); !value.empty())
      words[i] += "=" + value;
    else if (option->get_items_expected_max() > 0)
      ++i;  // its value
  }
  return words;
}

}  // namespace prof
