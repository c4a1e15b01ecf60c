#pragma once
// --share: who may read the results of a command, besides the user who runs it.

#include <filesystem>

namespace CLI {
class App;
}  // namespace CLI

namespace prof {

void add_share_option(CLI::App& command);

// With --share: lets others read the measurements, run.json and repair.json in a measurement directory, and
// what is written there later.
void share_measurements(const std::filesystem::path& directory);

// With --share: one line that says who may read what is in a database or measurement directory.
void say_who_may_read(const std::filesystem::path& place);

}  // namespace prof
