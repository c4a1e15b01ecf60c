#include "prof/commands/version.h"

#include <elfutils/version.h>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "prof/base/pfm.h"
#include "prof/base/release.h"
#include "prof/command_line/toml.h"

namespace prof {
namespace {

struct Library {
  std::string name;
  std::string version;
};

// Shared libraries report the version that is loaded, the others the version that was built in.
std::vector<Library> libraries() {
  const Pfm* const pfm = find_pfm();
  const auto of_pfm = static_cast<unsigned>(pfm ? pfm->get_version() : 0);
  return {
      {"CLI11", CLI11_VERSION},
      {"elfutils", fmt::format("{}.{}", _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000)},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"libpfm4", pfm ? fmt::format("{}.{}", of_pfm >> 16, of_pfm & 0xFFFF) : "cannot be loaded"},
      {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                    NLOHMANN_JSON_VERSION_PATCH)},
      {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)},
  };
}

std::string as_text() {
  std::string text = short_version() + "\n";
  for (const OptionalPart& part : this_release().parts)
    text += fmt::format("  {:<16} {}\n", part.name, part.state);
  for (const Library& library : libraries())
    text += fmt::format("  {:<16} {}\n", library.name, library.version);
  return text;
}

std::string as_json() {
  const Release& release = this_release();
  nlohmann::ordered_json json = {{"schema", "prof-version/1"},
                                 {"version", release.version},
                                 {"commit", release.commit},
                                 {"compiler", release.compiler},
                                 {"build_type", release.build_type}};
  json["parts"] = nlohmann::ordered_json::object();
  for (const OptionalPart& part : release.parts) json["parts"][part.name] = part.state;
  json["libraries"] = nlohmann::ordered_json::object();
  for (const Library& library : libraries()) json["libraries"][library.name] = library.version;
  return json.dump(2) + "\n";
}

}  // namespace

void add_version_command(CLI::App& app, int& status) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("version", "Show the version and how it was built");
  command->add_flag("--json", *json, "Print JSON")->configurable(false);
  command->callback([json, &status] {
    const std::string text = *json ? as_json() : as_text();
    std::fputs(text.c_str(), stdout);  // main() checks for errors
    status = 0;
  });
}

}  // namespace prof
