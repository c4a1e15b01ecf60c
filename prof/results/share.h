#pragma once
// --share: the users besides the owner who may read the results of a command.

#include <filesystem>

namespace CLI {
class App;
}  // namespace CLI

namespace prof {

void add_share_option(CLI::App& command);

// Lets others read the measurements, run.json and repair.json in a measurement directory, and files that are
// written there later.
void share_measurements(const std::filesystem::path& directory);

// Prints one line that states who may read a database or measurement directory.
void say_who_may_read(const std::filesystem::path& place);

}  // namespace prof
