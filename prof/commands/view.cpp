#include "prof/commands/view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/database/database.h"
#include "prof/base/message.h"
#include "prof/base/quiet.h"
#include "prof/base/runtime_library.h"
#include "prof/ranks/measurement_directory.h"
#include "prof/results/databases.h"
#include "viewer/options/view_options.h"

namespace prof {

namespace fs = std::filesystem;

namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value;
}

void require_display() {
  if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || is_set("QT_QPA_PLATFORM")) return;
  fail(kOwnFailure, "no display is available; use `ssh -X`, or write a picture with --screenshot FILE");
}

// Returns the database to open for the path. A measurement directory is analyzed if it has no database yet.
// The viewer reports a damaged database.
fs::path database_to_view(const fs::path& path) {
  if (is_database(path)) return path;
  if (!has_measurements(path)) {
    read_database(path, ReadValues::WhenAskedFor);  // throws, and reports what the path is instead
    return path;
  }
  database_of(path, ReadValues::WhenAskedFor);
  if (is_database(path / "database")) return path / "database";
  fail(kOwnFailure, "cannot write to {}; analyze it with `prof analyze {} -o DATABASE`", path.string(),
       path.string());
}

[[noreturn]] void become(const fs::path& viewer, const std::vector<std::string>& arguments) {
  std::string name = viewer.string();
  std::vector<char*> words{name.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(name.c_str(), words.data());
  if (errno == ENOENT)
    fail(kOwnFailure,
         "the viewer is not installed; install the package prof-viewer, or build prof with qt6-base-dev and "
         "qt6-svg-dev (bundles have no viewer: open the database on a machine with one, or use prof report)");
  fail(kOwnFailure, "cannot start {}: {}", name, std::strerror(errno));
}

}  // namespace

void add_view_command(CLI::App& app, int&) {
  auto options = std::make_shared<viewer::ViewOptions>();
  CLI::App* command = app.add_subcommand("view", "Open a database in a window");
  viewer::add_view_options(*command, *options);
  add_quiet_option(*command);
  command->callback([options] {
    if (!viewer::writes_file(*options)) require_display();
    if (!options->database.empty()) options->database = database_to_view(options->database).string();
    if (!options->compare.empty()) {
      if (options->database.empty())
        fail(kOwnFailure,
             "--compare needs two databases; name the first one before it: prof view DATABASE --compare "
             "DATABASE");
      options->compare = database_to_view(options->compare).string();
    }
    become(find_viewer(), viewer::arguments_of(*options));
  });
}

}  // namespace prof
