// libFuzzer entry: arbitrary bytes as a settings file (.prof.toml).

#include <set>

#include "prof/base/message.h"
#include "prof/command_line/description.h"
#include "prof/command_line/setting_names.h"
#include "prof/command_line/settings.h"
#include "prof/commands/application.h"
#include "tests/fuzz/input_file.h"

using namespace prof;

namespace {

std::set<std::string> keys_of(const Application& application) {
  std::set<std::string> keys;
  for_each_command(describe(application), [&](const CommandDescription& command) {
    for (const OptionDescription& option : command.options)
      if (option.is_setting) keys.insert(setting_key(command, option));
  });
  return keys;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const test::InputFile file("config.toml");
  static int status = 0;
  static const Application application(status);
  static const std::set<std::string> keys = keys_of(application);
  file.fill(data, size);
  const std::string origin = file.path() + ":";
  try {
    std::set<std::string> seen;
    for (const Setting& setting : read_settings(application, {{file.path()}})) {
      if (!keys.contains(setting.key) || !setting.origin.starts_with(origin)) std::abort();
      if (setting.effective != seen.insert(setting.key).second) std::abort();
    }
  } catch (const CommandError& error) {
    if (error.status() != kOwnFailure || !std::string_view(error.what()).starts_with(origin)) std::abort();
  }
  return 0;
}
