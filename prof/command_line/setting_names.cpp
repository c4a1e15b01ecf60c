#include "prof/command_line/setting_names.h"

#include <cctype>

namespace prof {
namespace {

// Joins the words of the path and the option's name, without "prof".
std::string joined(const CommandDescription& command, const OptionDescription& option, char separator) {
  std::string text;
  for (size_t i = 1; i < command.words.size(); ++i) text += command.words[i] + separator;
  return text + option.long_name;
}

}  // namespace

std::string setting_variable(const CommandDescription& command, const OptionDescription& option) {
  std::string name = "PROF_" + joined(command, option, '_');
  for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string setting_key(const CommandDescription& command, const OptionDescription& option) {
  return joined(command, option, '.');
}

}  // namespace prof
