#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "prof/base/message.h"
#include "prof/command_line/description.h"
#include "prof/command_line/setting_names.h"
#include "prof/command_line/setting_scopes.h"
#include "prof/command_line/settings.h"
#include "prof/commands/application.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

class Files {
 public:
  Files() : folder(fs::temp_directory_path() / ("prof-settings-" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder / "repository/inner");
    fs::create_directories(folder / "home/prof");
    setenv("XDG_CONFIG_HOME", (folder / "home").c_str(), 1);
  }
  ~Files() { fs::remove_all(folder); }
  fs::path put(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  const fs::path folder;
};

std::vector<Setting> read_files(const std::vector<SettingsFile>& files) {
  int status = 0;
  const Application application(status);
  return read_settings(application, files);
}

std::string refusal(const fs::path& file) {
  try {
    read_files({{file}});
  } catch (const CommandError& error) {
    return fs::path(file).filename().string() + std::string(error.what()).substr(file.string().size());
  }
  return "";
}

}  // namespace

TEST_CASE(
    "the file of the project is found up to the root of the repository, and the user's comes after it") {
  const Files files;
  fs::create_directories(files.folder / "repository/.git");
  const fs::path user = files.put("home/prof/config.toml", "");
  CHECK(settings_files(files.folder / "repository/inner") == std::vector<SettingsFile>{{user}});
  const fs::path outside = files.put(".prof.toml", "");
  CHECK(settings_files(files.folder / "repository/inner") == std::vector<SettingsFile>{{user}});
  const fs::path project = files.put("repository/.prof.toml", "");
  CHECK(settings_files(files.folder / "repository/inner") ==
        std::vector<SettingsFile>{{project, true}, {user}});
  CHECK(settings_files(files.folder) == std::vector<SettingsFile>{{outside, true}, {user}});
}

TEST_CASE("variables come before files, and the first file before the second") {
  const Files files;
  const fs::path first = files.put("first.toml", "[report]\nview = 'flat'\ndepth = 3\n");
  const fs::path second = files.put("second.toml", "[report]\ndepth = 4\nthreshold = 2.5\n");
  setenv("PROF_REPORT_VIEW", "top-down", 1);
  const std::vector<Setting> settings = read_files({{first}, {second}});
  unsetenv("PROF_REPORT_VIEW");
  std::string effective;
  for (const Setting& setting : settings)
    if (setting.effective) effective += setting.key + "=" + setting.values.front() + " ";
  CHECK(effective == "report.view=top-down report.depth=3 report.threshold=2.5 ");
  CHECK(settings[1].key == "report.depth");
  CHECK(settings[1].origin == first.string() + ":3");
}

TEST_CASE("every setting has a row that says whether a project's file may set it") {
  int status = 0;
  const Application application(status);
  std::vector<std::string> declared, rows;
  for_each_command(describe(application), [&](const CommandDescription& command) {
    for (const OptionDescription& option : command.options)
      if (option.is_setting) declared.push_back(setting_key(command, option));
  });
  for (const ScopedSetting& setting : scoped_settings()) rows.emplace_back(setting.key);
  INFO("classify what is new in prof/command_line/setting_scopes.cpp");
  CHECK(rows == declared);
  CHECK(setting_scope("run.no-such-option") == SettingScope::Personal);
}

TEST_CASE("a project's file chooses what is measured and shown, never where files go or what is loaded") {
  const Files files;
  const fs::path file = files.put("a.toml", "[run]\noutput = '../x'\nevent = 'REALTIME'\n");
  const fs::path own = files.put("b.toml", "[run]\noutput = 'mine'\n");
  const std::vector<Setting> settings = read_files({{file, true}, {own}});
  REQUIRE(settings.size() == 3);
  for (const Setting& setting : settings) {
    const bool is_refused = setting.key == "run.output" && setting.values.front() == "../x";
    CHECK(setting.refused == is_refused);
    CHECK(setting.effective != is_refused);
  }
}

TEST_CASE("lists are lists in files and separated by commas in variables") {
  const Files files;
  const fs::path file = files.put("a.toml", "[run]\nevent = ['CPUTIME', 'REALTIME@50']\n");
  CHECK(read_files({{file}})[0].values == std::vector<std::string>{"CPUTIME", "REALTIME@50"});
  setenv("PROF_RUN_EVENT", "CPUTIME@10,REALTIME", 1);
  CHECK(read_files({})[0].values == std::vector<std::string>{"CPUTIME@10", "REALTIME"});
  unsetenv("PROF_RUN_EVENT");
}

TEST_CASE("what is wrong with a file is said with its line and the nearest name") {
  const Files files;
  CHECK(refusal(files.put("a.toml", "[run]\nevnt = 'x'\n")) ==
        "a.toml:2: unknown setting run.evnt; did you mean run.event?");
  CHECK(refusal(files.put("a.toml", "[rnu]\nevent = 'x'\n")) ==
        "a.toml:1: unknown setting rnu; did you mean run?");
  CHECK(refusal(files.put("a.toml", "\n\n[run]\ntrace = 'yes'\n")) ==
        "a.toml:4: run.trace: expected true or false");
  CHECK(refusal(files.put("a.toml", "[report]\nview = ['flat']\n")) ==
        "a.toml:2: report.view: expected one value, not a list");
  CHECK(refusal(files.put("a.toml", "[report]\nview = true\n")) ==
        "a.toml:2: report.view: expected text or a number");
  CHECK(refusal(files.put("a.toml", "[report\n")).starts_with("a.toml:1: invalid TOML"));
  CHECK(refusal(files.put("a.toml", "report.vi\314\232ew = 1\n")).starts_with("a.toml:1: invalid TOML"));
}

TEST_CASE("every command has examples and a page, and every option a text") {
  int status = 0;
  const Application application(status);
  for_each_command(describe(application), [](const CommandDescription& command) {
    INFO(command.path() << ": add a row to prof/command_line/command_texts.cpp");
    CHECK(!command.text.examples.empty());
    CHECK(!command.text.page.empty());
    for (const OptionDescription& option : command.options) {
      INFO(option.names.front());
      CHECK(!option.text.empty());
    }
  });
}
