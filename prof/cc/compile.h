#pragma once
// `prof cc` and `prof c++`: clang 14 with the pass that marks where code works atomically
// (repair/isolate/pass). All arguments are the compiler's, and so is the exit status.

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace prof {

struct Compilation {
  std::string compiler;                // "clang-14" or "clang++-14", found in $PATH
  std::vector<std::string> arguments;  // as the user gave them
};

// What the command line of `prof` asks to compile, before anybody else reads it: what looks like an option of
// ours, too, is the compiler's. nullopt: it is another subcommand, or asks for the help of this one.
std::optional<Compilation> compilation_in(int argc, const char* const* argv);

// Compiles, and marks what was linked where all of its code is annotated. Returns the compiler's exit status,
// 128 + n where signal n ended it. Throws CommandError (125) where there is no compiler or no plugin.
int compile(const Compilation& compilation);

// For help texts, manual pages and completion.
void add_compile_commands(CLI::App& app, int& status);

// The file that a command line of clang's links into, if it links; response files (@FILE) are read.
std::optional<std::string> linked_file(const std::vector<std::string>& arguments);

}  // namespace prof
