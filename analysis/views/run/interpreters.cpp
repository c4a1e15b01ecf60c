#include "analysis/views/run/interpreters.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr std::string_view kPython = "python3", kPythonLibrary = "libpython3";
constexpr std::string_view kPythonFunction = "py::";  // the prefix of CPython's names in its perf map
constexpr int kFirstWithNames = 12;                   // the version 3.x that has -X perf
constexpr std::string_view kOthers[] = {"perl",    "libperl", "ruby",   "libruby", "php",  "lua5",
                                        "liblua5", "tclsh",   "libtcl", "bash",    "dash", "busybox"};
constexpr std::string_view kNotShown = "functions of the script are not shown (docs/interpreters.md)";

bool is_python(std::string_view module) {
  return module.starts_with(kPython) || module.starts_with(kPythonLibrary);
}

// Parses "python3.11" or "libpython3.11.so.1.0"; returns 0 if the name contains no version.
int minor_version(std::string_view module) {
  const size_t dot = module.find("3.");
  int version = 0;
  if (dot != std::string_view::npos)
    std::from_chars(module.data() + dot + 2, module.data() + module.size(), version);
  return version;
}

std::string advice_for(std::string_view module) {
  if (!is_python(module)) return std::string(kNotShown);
  if (const int version = minor_version(module); version == 0 || version >= kFirstWithNames)
    return "run it with -X perf to see the functions of the script (docs/interpreters.md)";
  return "functions of the script are shown from Python 3.12 on, with -X perf (docs/interpreters.md)";
}

bool is_interpreter(std::string_view module) {
  return is_python(module) ||
         std::ranges::any_of(kOthers, [&](std::string_view other) { return module.starts_with(other); });
}

}  // namespace

InterpreterShare interpreter_share(const CallTree& tree, double least) {
  const Database& database = *tree.database;
  if (tree.totals.empty() || tree.totals[0] <= 0) return {};
  std::vector<double> costs(database.modules.size(), 0);
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const Frame& frame = tree.frames[tree.nodes[n].frame];
    if (frame.module >= costs.size()) continue;
    costs[frame.module] += tree.cost(n, 0).exclusive;
    if (frame_name(database, frame).starts_with(kPythonFunction)) return {};
  }
  const auto most = std::ranges::max_element(costs);
  if (most == costs.end() || tree.share(*most, 0) < least) return {};
  const std::string name = base_name(database.modules[static_cast<size_t>(most - costs.begin())].path);
  if (!is_interpreter(name)) return {};
  return {name, advice_for(name), *most};
}

}  // namespace prof
