#pragma once
// `prof cc` and `prof c++`: clang 14 with the pass that marks code with atomic operations
// (repair/isolate/pass). All arguments are passed to the compiler, and its exit status is returned.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace prof {

struct Compilation {
  std::string compiler;                // "clang-14" or "clang++-14", found in $PATH
  std::vector<std::string> arguments;  // as the user gave them
};

// Returns what the command line of `prof` compiles. Must be called before any other parser reads the command
// line: arguments that look like options of prof's belong to the compiler, too. nullopt if it names another
// subcommand, or requests the help of this one.
std::optional<Compilation> compilation_in(int argc, const char* const* argv);

// Compiles, and marks the linked file if all its code is annotated. Returns the compiler's exit status, or
// 128 + n if signal n ended it. Throws CommandError (125) if the compiler or the plugin is missing.
int compile(const Compilation& compilation);

// Adds the commands for help texts, manual pages and completion.
void add_compile_commands(CLI::App& app, int& status);

// Returns the file into which a clang command line links, if it links. Response files (@FILE) are read.
std::optional<std::string> linked_file(const std::vector<std::string>& arguments);

}  // namespace prof
